//! The words of the page: a typed table per language, templates with named places, and the choice of a language.

mod table;
mod words;

pub use table::{EN, IDS, KO, Strings};
pub use words::{
    blocking, dispatcher, flavor, metric, model, pool_kind, preset_description, preset_title, reason, rejection,
    scenario_title, state, state_under,
};

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

impl Locale {
    /// The BCP 47 tag.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ko => "ko",
        }
    }

    /// The first language of a list such as `ko-KR, en` that the page has; English where there is none.
    pub fn best<'a>(wanted: impl IntoIterator<Item = &'a str>) -> Self {
        let tag = |text: &'a str| text.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        wanted
            .into_iter()
            .find_map(|text| match tag(text).as_str() {
                "ko" => Some(Self::Ko),
                "en" => Some(Self::En),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// The words.
    pub const fn strings(self) -> &'static Strings {
        match self {
            Self::En => &EN,
            Self::Ko => &KO,
        }
    }
}

/// Puts values into the `{places}` of a template; a place without a value stays as it is.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 1..start + length];
        out.push_str(&rest[..start]);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(&rest[start..=start + length]),
        }
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_language_that_exists_is_taken() {
        for (wanted, expect) in [
            (vec!["ko-KR", "en-US"], Locale::Ko),
            (vec!["de-DE", "ko"], Locale::Ko),
            (vec!["en-GB", "ko"], Locale::En),
            (vec!["fr"], Locale::En),
            (vec![], Locale::En),
        ] {
            assert_eq!(Locale::best(wanted.iter().copied()), expect, "{wanted:?}");
        }
    }

    #[test]
    fn values_go_into_their_places() {
        assert_eq!(fill("{n} of {m}", &[("m", "9"), ("n", "3")]), "3 of 9");
        assert_eq!(fill("{n} of {x}", &[("n", "{m}"), ("m", "9")]), "{m} of {x}");
        assert_eq!(fill("open {", &[]), "open {");
    }
}
