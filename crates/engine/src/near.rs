//! Names that are nearly another name, for messages about a name that does not exist.

/// The known name that is nearest to `name`, where one is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let near = |known: &'a str| {
        let changes = distance(&lower, known);
        // A third of the letters may differ, or one name may begin or end with the other.
        let part = lower.len() >= 3 && (known.contains(&lower) || lower.contains(known));
        (changes * 3 <= known.chars().count().max(3) || part).then_some((changes, known))
    };
    known.into_iter().filter_map(near).min_by_key(|&(changes, _)| changes).map(|(_, known)| known)
}

/// Letters to insert, to leave out, to replace, or to swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    // Nobody means a name of the page by a text this long.
    let from: Vec<char> = from.chars().take(64).collect();
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut next = vec![i];
        for j in 1..=to.len() {
            let replaced = row[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COSTS, PRESET_NAMES};

    #[track_caller]
    fn check(name: &str, expect: Option<&str>) {
        assert_eq!(nearest(name, PRESET_NAMES), expect, "{name}");
    }

    #[test]
    fn what_is_nearly_a_name() {
        check("io-bond", Some("io-bound"));
        check("iobound", Some("io-bound"));
        check("IO-Bound", Some("io-bound"));
        check("agents", Some("llm-agents"));
        check("connections-pool", Some("connection-pool"));
        check("x", None);
        check("", None);
        check("something-else", None);
        check(&"y".repeat(1_000_000), None);
        assert_eq!(nearest("vt_spwan", COSTS.iter().map(|info| info.name)), Some("vt_spawn"));
    }

    #[test]
    fn a_swap_is_one_change() {
        for (from, to, expect) in [("ab", "ba", 1), ("abc", "abc", 0), ("", "abc", 3), ("kitten", "sitting", 3)] {
            assert_eq!(distance(from, to), expect, "{from} {to}");
        }
    }
}
