//! Pages: what the commands write, and how a browser shows it.

use std::process::Command;

use crate::{Workshop, number, text};

/// The pages of all commands that write one, by their names.
fn pages(workshop: &Workshop) -> Vec<(&'static str, String)> {
    let mixture = "mixture:n=80";
    let commands: [&[&str]; 7] = [
        &["fit", "--data", mixture, "--lambda", "0.01", "--loss", "logistic", "--out", "m.json"],
        &["path", "--data", mixture, "--lambdas", "1:1e-4:9"],
        &[
            "cv",
            "--data",
            mixture,
            "--lambdas",
            "1:1e-4:5",
            "--kernel",
            "gaussian:sigma=1",
            "--or-kernel",
            "linear",
        ],
        &["massart", "--data", "mixture:n=2000", "--eta", "0.2", "--gamma", "0.2"],
        &["focus", "--data", mixture, "--max-steps", "20", "--slack", "additive-sum:budget=5"],
        &["cv", "--data", "three.csv", "--lambdas", "1:1e-3:3", "--multi-class", "ovr"],
        &["fit", "--data", "three.csv", "--lambda", "0.1", "--multi-class", "ovo"],
    ];
    workshop.write("three.csv", crate::three_classes().as_bytes());
    let mut pages: Vec<(&str, String)> = commands
        .iter()
        .map(|command| {
            let test = [
                "--test",
                if command[2] == "three.csv" { "three.csv" } else { "mixture:n=60,seed=2" },
            ];
            let test = if command[0] == "path" { &[][..] } else { &test };
            let output = workshop.run(&[*command, &["--report", "page.html"], test].concat());
            assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
            (command[0], std::fs::read_to_string(workshop.path("page.html")).expect("a page"))
        })
        .collect();
    let report = ["report", "--model", "m.json", "--data", "mixture:n=60,seed=2"];
    pages.push(("report", workshop.output(&[&report[..], &["--training", mixture]].concat())));
    pages
}

#[test]
fn a_report_is_a_page_or_its_numbers() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let arguments = ["report", "--model", "m.json", "--data", "data.csv"];
    let document = workshop.json(&arguments);
    assert_eq!(document["format"], "margins-report");
    let metrics =
        &workshop.json(&["predict", "--model", "m.json", "--data", "data.csv"])["metrics"];
    let evaluation = &document["evaluations"][0];
    assert_eq!(number(&evaluation["error"]["value"]), number(&metrics["error"]));
    assert_eq!(number(&evaluation["classes"][1]["roc"]["area"]["value"]), number(&metrics["auc"]));
    assert_eq!(document["members"][0]["largest"].as_array().map(Vec::len), Some(2));
    let page = workshop.output(&arguments);
    assert!(page.contains("margins report --model m.json --data data.csv"), "{page}");

    workshop.write("unlabelled.csv", b"height,width\n1,2\n");
    let output = workshop.run(&["report", "--model", "m.json", "--data", "unlabelled.csv"]);
    assert_eq!(
        text(&output.stderr),
        "error: unlabelled.csv: it has no labels to compare the decisions with\n"
    );
}

/// A file whose name ends in .json gets the numbers of the page, and --format goes before the name.
#[test]
fn the_name_of_a_report_tells_its_format() {
    let workshop = Workshop::new();
    let kernel = ["fit", "--data", "data.csv", "--lambda", "0.1", "--kernel", "gaussian:sigma=1"];
    workshop.output(&[&kernel[..], &["--out", "m.json", "--report", "fit.JSON"]].concat());
    let report = ["report", "--model", "m.json", "--data", "data.csv", "--out"];
    workshop.output(&[&report[..], &["model.json"]].concat());
    workshop.output(&[&report[..], &["told.json", "--format", "html"]].concat());
    let read = |name: &str| std::fs::read_to_string(workshop.path(name)).expect("a report");
    for name in ["fit.JSON", "model.json"] {
        let document: serde_json::Value = serde_json::from_str(&read(name)).expect("a document");
        assert_eq!(document["format"], "margins-report", "{name}");
        let member = &document["members"][0];
        assert_eq!(member["functions"], "support samples", "{name}");
        let first = member["largest"][0]["name"].as_str().expect("a name");
        assert!(first.starts_with("support sample "), "{first}");
    }
    assert!(read("told.json").starts_with("<!DOCTYPE html>"));
}

/// The page of a fit shows the rows to test it on as the page of the model does.
#[test]
fn rows_to_test_a_fit_on_are_on_its_page() {
    let workshop = Workshop::new();
    let (train, test) = ("mixture:n=80", "mixture:n=60,seed=2");
    let fit = ["fit", "--data", train, "--lambda", "0.01", "--out", "m.json", "--report", "f.html"];
    workshop.output(&[&fit[..], &["--test", test]].concat());
    let of_fit = std::fs::read_to_string(workshop.path("f.html")).expect("a page");
    let of_model =
        workshop.output(&["report", "--model", "m.json", "--training", train, "--data", test]);
    let evaluations = |page: &str| {
        let start = page.find("<h2>Decisions").expect("the decisions");
        page[start..].split("</main>").next().map(str::to_owned)
    };
    assert_eq!(evaluations(&of_fit), evaluations(&of_model));

    let alone = workshop.run(&["fit", "--data", train, "--lambda", "0.01", "--test", test]);
    assert!(text(&alone.stderr).contains("--report <FILE>"), "{}", text(&alone.stderr));
    let missing =
        ["fit", "--data", train, "--lambda", "0.01", "--report", "p.html", "--out", "late"];
    let message = text(&workshop.run(&[&missing[..], &["--test", "none.csv"]].concat()).stderr);
    assert!(message.starts_with("error: none.csv: cannot be read"), "{message}");
    assert!(!workshop.path("late").exists(), "the file is looked for before the fit");
    let stumps = ["focus", "--data", train, "--learner", "stump", "--report", "p.html"];
    let message = text(&workshop.run(&[&stumps[..], &["--test", test]].concat()).stderr);
    assert!(message.contains("--test is for linear learners"), "{message}");
    let over = ["fit", "--data", train, "--lambda", "1", "--report", "t.csv", "--test", "t.csv"];
    let message = text(&workshop.run(&over).stderr);
    assert!(message.contains("--test t.csv"), "{message}");
}

#[test]
fn the_page_and_the_data_are_not_one_file() {
    let workshop = Workshop::new();
    let page = ["--data", "data.csv", "--report", "data.csv"];
    for command in [
        &["fit", "--lambda", "1"][..],
        &["path"],
        &["cv"],
        &["focus"],
        &["massart", "--learner", "auto"],
    ] {
        let output = workshop.run(&[command, &page[..]].concat());
        let message = "error: --report data.csv would overwrite the input --data data.csv";
        assert!(text(&output.stderr).starts_with(message), "{command:?}: {}", text(&output.stderr));
    }
}

/// The pages in frames of both widths, with a line for what is wider than its frame.
fn frames(pages: &[(&str, String)]) -> String {
    let frame = |(name, page): &(&str, String), width: u32| {
        let source = page.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe name='{name} {width}' style='width:{width}px;height:900px;border:0' srcdoc=\"{source}\"></iframe>"
        )
    };
    let frames: String =
        pages.iter().flat_map(|page| [390, 1440].map(|width| frame(page, width))).collect();
    let script = "onload = () => { for (const f of document.querySelectorAll('iframe')) { \
        const width = f.contentDocument.documentElement.scrollWidth; \
        const dark = f.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches; \
        const wide = width > f.clientWidth ? 'overflows' : 'fits'; \
        document.body.append(`[${f.name} ${dark ? 'dark' : 'light'} ${wide}]`); } }";
    format!("<!DOCTYPE html><body>{frames}<script>{script}</script></body>")
}

#[test]
fn a_browser_shows_the_pages_without_overflow_or_errors() {
    if Command::new("chromium").arg("--version").output().is_err() {
        eprintln!("skipped: there is no chromium to open pages with");
        return;
    }
    let workshop = Workshop::new();
    let pages = pages(&workshop);
    workshop.write("frames.html", frames(&pages).as_bytes());
    let address = format!("file://{}", workshop.path("frames.html").display());
    let profile = format!("--user-data-dir={}", workshop.path("profile").display());
    for (scheme, setting) in [("dark", 0), ("light", 1)] {
        let output = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
            .args([&profile, &format!("--blink-settings=preferredColorScheme={setting}")])
            .args(["--window-size=1600,1200", "--virtual-time-budget=10000", "--dump-dom"])
            .arg(&address)
            .output()
            .expect("chromium runs");
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert!(!said.contains("CONSOLE"), "{said}");
        for (name, _) in &pages {
            for width in [390, 1440] {
                let line = format!("[{name} {width} {scheme} fits]");
                assert!(shown.contains(&line), "{line} is missing");
            }
        }
    }
}
