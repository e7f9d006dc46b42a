//! The tables of a report.

use maud::{Markup, PreEscaped, html};

use margins_calibration::location::MarginLocation;
use margins_data::{Counted, Listed};

use super::number::{percent, short, with_error};
use crate::data::{DataSummary, RawColumnSummary};
use crate::evaluation::Evaluation;
use crate::members::{CertificateSummary, Coefficient, MemberSummary};
use crate::report::CandidateChoice;
use crate::suspect::{Deviation, Suspect};

pub(super) fn table(caption: &str, header: &[&str], rows: &[Vec<String>]) -> Markup {
    with_head(caption, header.len(), &html! { tr { (names(header)) } }, rows)
}

/// Returns a table with these rows above its content.
fn with_head(caption: &str, columns: usize, head: &Markup, rows: &[Vec<String>]) -> Markup {
    // A table of many columns takes the width of the page.
    let is_wide = columns > 5;
    html! {
        div.scroll.wide[is_wide] { table {
            caption { (caption) }
            thead { (head) }
            tbody { @for row in rows { tr {
                @for (k, cell) in row.iter().enumerate() {
                    @if k == 0 {
                        th.long[is_long(cell)] scope="row" { (breakable(cell)) }
                    } @else if is_long(cell) {
                        td.long { (breakable(cell)) }
                    } @else {
                        td.number { (in_two(cell)) }
                    }
                }
            } } }
        } }
    }
}

/// Returns the names of columns as cells above them.
fn names(header: &[&str]) -> Markup {
    html! { @for name in header { th.long[is_long(name)] scope="col" { (breakable(name)) } } }
}

/// Returns a cell of two parts, a number and what stands beside it, which narrow pages show on two lines.
fn in_two(cell: &str) -> Markup {
    let second = [" (", " ± "].iter().filter_map(|start| cell.find(start)).min();
    let (first, rest) = cell.split_at(second.unwrap_or(cell.len()));
    html! { (first) @if !rest.is_empty() { span.narrow {} (rest) } }
}

/// Returns a text that may break after marks that join words, as in names of columns.
fn breakable(text: &str) -> Markup {
    let parts = text.split_inclusive(['=', '_', '.', '/', ':']).enumerate();
    html! { @for (k, part) in parts { @if k > 0 { (PreEscaped("<wbr/>")) } (part) } }
}

/// Returns true if the text or a word of it is too long for a column that leaves others room.
fn is_long(text: &str) -> bool {
    const LONGEST: usize = 24;
    const LONGEST_WORD: usize = 12;
    let length = |text: &str| text.chars().count();
    length(text) > LONGEST || text.split(' ').any(|word| length(word) > LONGEST_WORD)
}

pub(super) fn data(data: &DataSummary) -> Markup {
    let rows: Vec<Vec<String>> = data
        .classes
        .iter()
        .map(|class| vec![class.name.clone(), class.rows.to_string(), percent(class.share)])
        .collect();
    let stored =
        data.stored.map_or(String::new(), |s| format!(", {} of the values stored", percent(s)));
    let weights = if data.weighted { ", with weights" } else { "" };
    let DataSummary { name, rows: count, columns, .. } = data;
    let size = [Counted(*count, "row"), Counted(*columns, "column")].map(|size| size.to_string());
    let left_out = match data.left_out {
        0 => String::new(),
        1 => "; 1 row without a label is left out".to_owned(),
        rows => format!("; {rows} rows without a label are left out"),
    };
    let caption = format!("{name}: {}{stored}{weights}{left_out}", size.join(", "));
    table(&caption, &["class", "rows", "share"], &rows)
}

/// The most columns of a raw table that are shown.
const MOST_COLUMNS: usize = 30;

/// Returns the columns that features were made of; `None` where they were not made of a raw table.
pub(super) fn raw_columns(data: &DataSummary) -> Option<Markup> {
    let all = &data.raw_columns;
    let row = |column: &RawColumnSummary| {
        let levels = column.levels.as_ref().map(|levels| Listed(levels).to_string());
        let missing = column.missing.to_string();
        vec![column.name.clone(), column.kind.to_owned(), missing, levels.unwrap_or_default()]
    };
    let rows: Vec<Vec<String>> = all.iter().take(MOST_COLUMNS).map(row).collect();
    let first = match all.len() > MOST_COLUMNS {
        true => format!(", the first {MOST_COLUMNS} of {}", all.len()),
        false => String::new(),
    };
    let caption = format!("Columns of {} before they were encoded{first}", data.name);
    let header = ["column", "kind", "missing", "levels"];
    (!all.is_empty()).then(|| table(&caption, &header, &rows))
}

pub(super) fn candidates(choice: &CandidateChoice) -> Markup {
    let CandidateChoice { eta, gamma, candidates, held_out, error, bound, delta, chosen, .. } =
        choice;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("candidates", candidates.to_string()),
        row("chosen", format!("number {chosen}")),
        row("rows held out", held_out.to_string()),
        row("error of the best on them", percent(*error)),
        row("added for the choice and for chance", percent(bound - error)),
        row("bound on the error", percent(*bound)),
        row("probability of the bound", short(1.0 - delta)),
        row("eta of its run", short(*eta)),
        row("gamma of its run", short(*gamma)),
    ];
    table("The best of the candidates on rows held out", &["", ""], &rows)
}

/// Returns the certificates of the problems; nothing where no objective is known.
pub(super) fn certificates(problems: &[CertificateSummary]) -> Option<Markup> {
    if problems.iter().all(|problem| problem.objective.is_none()) {
        return None;
    }
    let known = |x: Option<f64>| x.map_or_else(|| "unknown".to_owned(), short);
    let rows: Vec<Vec<String>> = problems
        .iter()
        .map(|problem| {
            vec![
                problem.name.clone(),
                problem.lambda.map_or_else(|| "none".to_owned(), short),
                known(problem.objective),
                known(problem.dual_objective),
                known(problem.relative_gap),
                if problem.converged { "yes" } else { "no" }.to_owned(),
            ]
        })
        .collect();
    let header = ["classifier", "lambda", "objective", "lower bound", "relative gap", "certified"];
    Some(table("Objectives with their lower bounds", &header, &rows))
}

/// The most classes beside each other whose cells have room for shares.
const MOST_WITH_SHARES: usize = 8;

pub(super) fn decisions(evaluation: &Evaluation) -> Markup {
    let confusion = &evaluation.confusion;
    let classes: Vec<&str> = confusion.classes.iter().map(String::as_str).collect();
    let with_shares = classes.len() <= MOST_WITH_SHARES;
    let share = if with_shares { " (share of the true class)" } else { "" };
    let head = html! {
        tr {
            th rowspan="2" scope="col" { "true class" }
            th colspan=(classes.len()) scope="colgroup" { "predicted class" (share) }
        }
        tr { (names(&classes)) }
    };
    let rows: Vec<Vec<String>> = confusion
        .classes
        .iter()
        .zip(&confusion.weights)
        .map(|(class, weights)| {
            let total: f64 = weights.iter().sum();
            let cell = |&weight: &f64| match with_shares && total > 0.0 {
                true => format!("{} ({})", short(weight), percent(weight / total)),
                false => short(weight),
            };
            [class.clone()].into_iter().chain(weights.iter().map(cell)).collect()
        })
        .collect();
    let error = evaluation.error;
    let error = with_error(100.0 * error.value, 100.0 * error.standard_error, " %");
    let caption = format!("Decisions on {}: error {error}", evaluation.data);
    with_head(&caption, classes.len() + 1, &head, &rows)
}

pub(super) fn coefficients(member: &MemberSummary) -> Markup {
    let MemberSummary { name, functions, count, nonzero, largest, .. } = member;
    let most = largest.first().map_or(0.0, Coefficient::size).max(f64::MIN_POSITIVE);
    let is_standardized = largest.iter().any(|coefficient| coefficient.standardized.is_some());
    let words = html! {
        (name) ": intercept " (short(member.intercept)) ", " (nonzero) " of " (Counted(*count, functions.strip_suffix('s').unwrap_or(functions)))
        " with a coefficient"
        @if largest.len() < *nonzero { ", the " (largest.len()) " largest" }
        @if largest.len() < *nonzero && is_standardized { " once standardised" }
    };
    if largest.is_empty() {
        return html! { p { (words) } };
    }
    html! {
        div.scroll { table {
            caption { (words) }
            thead { tr {
                th scope="col" { (functions) } th scope="col" { "coefficient" }
                @if is_standardized { th scope="col" { "standardised" } }
                th scope="col" { "size" }
            } }
            tbody { @for coefficient in largest { tr {
                th.long[is_long(&coefficient.name)] scope="row" { (breakable(&coefficient.name)) }
                td.number { (short(coefficient.value)) }
                @if is_standardized { td.number { (coefficient.standardized.map(short).unwrap_or_default()) } }
                td.bar { i.(if coefficient.value < 0.0 { "c1" } else { "c0" })
                    style={ "width:" (format!("{:.1}", 100.0 * coefficient.size() / most)) "%" } {} }
            } } }
        } }
    }
}

/// Returns the samples of the smallest margins.
pub(super) fn hardest(evaluation: &Evaluation) -> Markup {
    let rows: Vec<Vec<String>> = evaluation
        .hardest
        .iter()
        .map(|sample| {
            let row = sample.row.to_string();
            let cells = [row, sample.label.clone(), sample.decided.clone(), short(sample.margin)];
            cells.into_iter().chain(sample.probability.map(short)).collect()
        })
        .collect();
    let caption = format!("The smallest margins on {}", evaluation.data);
    let header = ["row", "label", "decision", "margin", "probability of the label"];
    // The last column is one of models with probabilities.
    table(&caption, &header[..rows.first().map_or(header.len(), Vec::len)], &rows)
}

/// Returns where the margins of each data set are, for a loss that aims at a level.
pub(super) fn margin_locations(evaluations: &[Evaluation]) -> Option<Markup> {
    let row = |(name, found): (String, &MarginLocation)| -> Vec<String> {
        let attained = if found.attained { "yes" } else { "no" };
        let interval = match found.interval.map(|ends| ends.map(short)) {
            Some([lower, upper]) => format!("{lower} to {upper}"),
            None => "none".to_owned(),
        };
        let variance_bound = found.variance_bound.map_or_else(|| "unknown".to_owned(), short);
        let of_moments = [found.mean, found.variance, found.skewness].map(short);
        let of_loss = [found.gamma, found.scale, found.estimate].map(short);
        let between = [attained.to_owned(), interval, variance_bound];
        std::iter::once(name).chain(of_loss).chain(between).chain(of_moments).collect()
    };
    let of_evaluation = |evaluation: &'_ Evaluation| -> Vec<Vec<String>> {
        let data = &evaluation.data;
        let of_two = evaluation.location.iter().map(|location| (data.clone(), location));
        let of_members = evaluation.locations.iter();
        let of_members =
            of_members.map(|found| (format!("{data}, {}", found.member), &found.location));
        of_two.chain(of_members).map(row).collect()
    };
    let rows: Vec<Vec<String>> = evaluations.iter().flat_map(of_evaluation).collect();
    let caption = "Location of the margins at the scale of the loss. The interval holds the mean of the \
                   distribution of margins, if their variance is at most the bound and the classifier was \
                   not fitted to these rows.";
    let header = [
        "data",
        "gamma",
        "scale",
        "estimate",
        "gamma attained",
        "95 % interval",
        "bound on the variance",
        "mean",
        "variance",
        "skewness",
    ];
    (!rows.is_empty()).then(|| table(caption, &header, &rows))
}

/// Returns the number of rows with slack, and the first of them.
pub(super) fn outliers(rows: &[usize], suspects: &[Suspect]) -> Markup {
    if rows.is_empty() {
        return html! { p { "No sample has slack." } };
    }
    let unusual = |suspect: &Suspect| {
        let column = |far: &Deviation| format!("{} {:+.1}", far.column, far.deviations);
        suspect.columns.iter().map(column).collect::<Vec<String>>().join(", ")
    };
    let row =
        |suspect: &Suspect| vec![suspect.row.to_string(), suspect.label.clone(), unusual(suspect)];
    let described: Vec<Vec<String>> = suspects.iter().map(row).collect();
    let first = match suspects.len() < rows.len() {
        true => format!("the {} of them with the largest slack", suspects.len()),
        false => "the largest slack first".to_owned(),
    };
    let caption = format!("Rows with slack: {}, {first}", rows.len());
    let header = ["row", "label", "farthest from the mean, in standard deviations"];
    table(&caption, &header, &described)
}
