//! Suggests the known name nearest to a misspelt one.

/// Returns `; did you mean 'NAME'?` for the known name that is nearest to the one given, for the
/// end of a message; nothing if none is near.
///
/// ```
/// use margins_losses::did_you_mean;
///
/// assert_eq!(did_you_mean("hingee", ["lhs", "hinge"]), "; did you mean 'hinge'?");
/// assert_eq!(did_you_mean("Lable", ["age", "label"]), "; did you mean 'label'?");
/// assert_eq!(did_you_mean("ramp", ["lhs", "hinge"]), "");
/// ```
pub fn did_you_mean<'n>(asked: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    did_you_mean_of(asked, known, &[])
}

/// Returns the end of a message as [`did_you_mean`] does; where the name given is one that others
/// have for a known one, by a table of theirs and ours, it is that which was meant.
///
/// ```
/// use margins_losses::did_you_mean_of;
///
/// let elsewhere = [("log-loss", "logistic")];
/// assert_eq!(did_you_mean_of("Log_Loss", ["logistic"], &elsewhere), "; did you mean 'logistic'?");
/// assert_eq!(did_you_mean_of("log_loss", ["hinge"], &elsewhere), "");
/// ```
pub fn did_you_mean_of<'n>(
    asked: &str,
    known: impl IntoIterator<Item = &'n str>,
    foreign: &[(&str, &str)],
) -> String {
    /// The smallest share of a name that is right in one that is near.
    const NEAR: f64 = 0.6;
    let given = asked.to_lowercase();
    let spelled = given.replace(['_', ' '], "-");
    let likeness = |name: &str| match foreign.contains(&(spelled.as_str(), name)) {
        true => 1.0,
        false => strsim::normalized_damerau_levenshtein(&given, &name.to_lowercase()),
    };
    let nearest = known
        .into_iter()
        // A known name needs no suggestion of itself.
        .filter(|&name| name != asked)
        .map(|name| (likeness(name), name))
        .filter(|&(likeness, _)| likeness >= NEAR)
        // Of several that are as near it is the first.
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    nearest.map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}
