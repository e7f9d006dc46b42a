//! One setting: its names, its type, its default and what it does.

/// A setting of an estimator. The command and the packages of other languages take their names,
/// defaults and texts from it.
///
/// In texts, backticks enclose code and `{name}` is another setting of the same estimator, which
/// each interface shows by its own name.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The keyword in Python.
    pub name: &'static str,
    /// The option of the command without its dashes, if it has one. Of a switch that is on by
    /// default the option switches it off.
    pub option: Option<&'static str>,
    /// The type.
    pub kind: Kind,
    /// The range of a number, such as `> 0`; empty if every number is valid.
    pub range: &'static str,
    /// The default in Python, as Python writes it.
    pub default: &'static str,
    /// The value that None stands for; empty if it switches the setting off.
    pub none: &'static str,
    /// The default of the command, where it is not the one above.
    pub command_default: Option<&'static str>,
    /// One sentence without its full stop: what the setting is. For a switch: what happens if it is
    /// not at its default.
    pub sentence: &'static str,
    /// How the command writes a value, where it is not as in Python; begins with punctuation.
    pub syntax: &'static str,
    /// Further sentences.
    pub more: &'static str,
    /// Further sentences for Python alone.
    pub python: &'static str,
    /// Further sentences for the command alone.
    pub command: &'static str,
}

/// The type of a setting.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text.
    Text,
    /// A floating-point number.
    Number,
    /// A whole number.
    Whole,
    /// True or false.
    Switch,
    /// One of some names, each with what it is.
    Choice(&'static [(&'static str, &'static str)]),
    /// Any other type of Python.
    Other {
        /// The type in documentation.
        documented: &'static str,
        /// The annotation of the argument.
        annotation: &'static str,
        /// The type after Python has converted it for the library; empty if the library does not see
        /// it.
        native: &'static str,
    },
}

/// A setting with nothing but its defaults, to complete others.
pub(super) const NONE: Setting = Setting {
    name: "",
    option: None,
    kind: Kind::Text,
    range: "",
    default: "None",
    none: "",
    command_default: None,
    sentence: "",
    syntax: "",
    more: "",
    python: "",
    command: "",
};

impl Setting {
    /// Returns whether Python passes the setting on to the library, instead of acting on it itself.
    pub fn is_for_the_library(&self) -> bool {
        !matches!(self.kind, Kind::Other { native: "", .. })
    }

    /// Returns the default that the command shows; empty if it has none.
    pub fn shown_default(&self) -> &'static str {
        match (self.command_default, self.kind) {
            (Some(default), _) => default,
            (None, Kind::Switch) => "",
            (None, _) if self.default == "None" => self.none,
            (None, _) => self.default.trim_matches('"'),
        }
    }

    /// Returns the line and the paragraph of the command's help, which is empty if the line says
    /// everything. `option_of` returns the option for the name of another setting.
    pub fn help(&self, option_of: impl Fn(&str) -> String) -> (String, String) {
        let text = |text: &str| with_names(text, &option_of).replace('`', "");
        let line = text(self.sentence) + self.syntax;
        (line, text(&sentences([self.more, self.command])))
    }

    /// Returns the sentence of Python's documentation: for a switch, with its other state.
    pub fn python_sentence(&self) -> String {
        if let Kind::Switch = self.kind {
            let state = if self.default == "True" { "False" } else { "True" };
            let (first, rest) = self.sentence.split_at(1);
            return format!("If {state}, {}{rest}", first.to_lowercase());
        }
        with_names(self.sentence, in_backticks)
    }

    /// Returns the paragraph of Python's documentation.
    pub fn python_paragraph(&self) -> String {
        let sentence = format!("{}.", self.python_sentence());
        let default = match self.none {
            "" => String::new(),
            none => format!("Default: {none}."),
        };
        let choices: Vec<String> = match self.kind {
            Kind::Choice(choices) => {
                choices.iter().map(|(name, what)| format!("`\"{name}\"`: {what}.")).collect()
            }
            _ => Vec::new(),
        };
        let parts = [&sentence, &default, &choices.join(" "), self.more, self.python];
        with_names(&sentences(parts), in_backticks)
    }

    /// Returns the value that None stands for, in the markup of Python's documentation.
    pub fn python_none(&self) -> String {
        with_names(self.none, in_backticks)
    }
}

fn in_backticks(name: &str) -> String {
    format!("`{name}`")
}

/// Joins sentences by spaces, without the empty ones.
fn sentences<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Replaces every `{name}` by what a function returns for it.
fn with_names(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        result += &shown(name);
        result += rest;
    }
    result
}
