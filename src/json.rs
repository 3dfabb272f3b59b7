//! JSON as people read it, made from JSON without spaces: one writer for each type is enough, and a page has to be small.

/// The same JSON with a line for each entry, indented by two spaces. The text must be JSON.
pub fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    let mut letters = compact.chars().peekable();
    while let Some(letter) = letters.next() {
        if quoted {
            out.push(letter);
            quoted = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' => {
                out.push(letter);
                if let Some(close) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                out.push(letter);
                quoted = letter == '"';
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{PRESET_NAMES, preset};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_as_the_library_writes() {
        for name in PRESET_NAMES {
            let scenario = preset(name).unwrap();
            assert_eq!(pretty(&scenario.to_json()), serde_json::to_string_pretty(&scenario).unwrap(), "{name}");
        }
        for value in
            [json!([]), json!({}), json!([[], {"a": {}}]), json!({"a\"{,:": "\\", "b": [1, -2.5e9, null, "]"]})]
        {
            assert_eq!(pretty(&value.to_string()), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
