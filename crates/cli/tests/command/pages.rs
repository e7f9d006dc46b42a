//! Pages: what the commands write, and how a browser shows it.

use std::process::Command;

use serde_json::Value;

use crate::{Workshop, number, skipped, text};

/// The pages of all commands that write one, each with a name of its own.
fn pages(workshop: &Workshop) -> Vec<(&'static str, String)> {
    workshop.write("three.csv", crate::three_classes().as_bytes());
    workshop.write("long.csv", long_names().as_bytes());
    workshop.write("large.csv", large_numbers().as_bytes());
    let mixture = ["--data", "mixture:n=80"];
    let test = ["--test", "mixture:n=60,seed=2"];
    let three = ["--data", "three.csv", "--test", "three.csv"];
    let fit = ["fit", "--lambda", "0.01", "--loss", "logistic", "--out", "m.json"];
    let kernels = ["--kernel", "gaussian:sigma=1", "--or-kernel", "linear"];
    let path = ["path", "--lambdas", "1:1e-4:9"];
    let cv = ["cv", "--lambdas", "1:1e-4:5"];
    let massart = ["massart", "--data", "mixture:n=2000", "--eta", "0.2", "--gamma", "0.2"];
    let focus = ["focus", "--max-steps", "20", "--slack", "additive-sum:budget=5"];
    let of_rest = ["cv", "--lambdas", "1:1e-3:3", "--multi-class", "ovr"];
    let of_pairs = ["fit", "--lambda", "0.1", "--multi-class", "ovo"];
    let long = ["fit", "--lambda", "0.1", "--data", "long.csv", "--encode"];
    let commands: [(&str, Vec<&str>); 9] = [
        ("fit", [&fit[..], &mixture, &test].concat()),
        ("path", [&path[..], &mixture].concat()),
        ("path of large numbers", [&path[..], &["--data", "large.csv"]].concat()),
        ("cv of kernels", [&cv[..], &kernels, &mixture, &test, &["--out", "k.json"]].concat()),
        ("massart", [&massart[..], &test].concat()),
        ("focus", [&focus[..], &mixture, &test].concat()),
        ("cv of three classes", [&of_rest[..], &three].concat()),
        ("fit of pairs", [&of_pairs[..], &three, &["--out", "p.json"]].concat()),
        ("fit with long names", [&long[..], &["--test", "long.csv"]].concat()),
    ];
    let page = |(name, command): &(&'static str, Vec<&str>)| {
        let output = workshop.run(&[command, &["--report", "page.html"][..]].concat());
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        (*name, std::fs::read_to_string(workshop.path("page.html")).expect("a page"))
    };
    let mut pages: Vec<(&str, String)> = commands.iter().map(page).collect();
    let reports = [
        ("report", "m.json", [test[1], "--training", mixture[1]]),
        ("report of a kernel", "k.json", [test[1], "--training", mixture[1]]),
        ("report of pairs", "p.json", ["three.csv", "--training", "three.csv"]),
    ];
    for (name, model, data) in reports {
        let report = ["report", "--quiet", "--model", model, "--data"];
        pages.push((name, workshop.output(&[&report[..], &data].concat())));
    }
    pages
}

/// A table of such large numbers that coefficients are small and the objective hardly changes.
fn large_numbers() -> String {
    let mut table = "mass,charge,label\n".to_owned();
    for i in 0..60_u32 {
        let (x, class) = (f64::from(i), i % 2);
        table += &format!(
            "{},{},{class}\n",
            1e5 * x.sin() + 3e4 * f64::from(class),
            1e5 * (x * x).cos()
        );
    }
    table
}

/// A table whose columns, categories and classes have long names without a blank.
fn long_names() -> String {
    const LONG: &str = "a_name_that_is_long_and_has_no_blank_at_which_a_line_could_end";
    let mut table = format!("{LONG}_1,{LONG}_2,label\n");
    for i in 0..40 {
        let (level, class) = (i % 3, (i / 3 + i / 7) % 2);
        table +=
            &format!("{},{LONG}_of_level_{level},{LONG}_of_class_{class}\n", f64::from(i).sin());
    }
    table
}

#[test]
fn a_report_is_a_page_or_its_numbers() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let arguments = ["report", "--model", "m.json", "--data", "data.csv"];
    let quiet = [&arguments[..], &["--quiet"]].concat();
    let document = workshop.json(&quiet);
    assert_eq!(document["format"], "margins-report");
    let metrics =
        &workshop.json(&["predict", "--model", "m.json", "--data", "data.csv"])["metrics"];
    let evaluation = &document["evaluations"][0];
    assert_eq!(number(&evaluation["error"]["value"]), number(&metrics["error"]));
    assert_eq!(number(&evaluation["classes"][1]["roc"]["area"]["value"]), number(&metrics["auc"]));
    assert_eq!(document["members"][0]["largest"].as_array().map(Vec::len), Some(2));
    let page = workshop.output(&quiet);
    let command = "margins report <span class=\"word\">--model</span> m.json";
    assert!(page.contains(command), "{page}");

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
    let outputs = ["--quiet", "--out", "m.json", "--report", "fit.JSON"];
    workshop.output(&[&kernel[..], &outputs].concat());
    let report = ["report", "--quiet", "--model", "m.json", "--data", "data.csv", "--out"];
    workshop.output(&[&report[..], &["model.json"]].concat());
    workshop.output(&[&report[..], &["told.json", "--format", "html"]].concat());
    let read = |name: &str| std::fs::read_to_string(workshop.path(name)).expect("a report");
    // A fit has its rows in memory, a model alone has not.
    for (name, support) in [("fit.JSON", "row "), ("model.json", "support sample ")] {
        let document: serde_json::Value = serde_json::from_str(&read(name)).expect("a document");
        assert_eq!(document["format"], "margins-report", "{name}");
        let member = &document["members"][0];
        assert_eq!(member["functions"], "support samples", "{name}");
        let first = member["largest"][0]["name"].as_str().expect("a name");
        assert!(first.starts_with(support), "{first}");
    }
    assert!(read("told.json").starts_with("<!DOCTYPE html>"));
}

/// Standard error has every warning of a page, those of its numbers and those of the run, each once.
#[test]
fn a_page_and_standard_error_have_the_same_warnings() {
    let workshop = Workshop::new();
    let mixture = "mixture:n=80";
    workshop.output(&["fit", "--data", mixture, "--lambda", "0.01", "--out", "m.json"]);
    let catoni = ["--objective", "catoni", "--report", "p.json"];
    let path = ["path", "--data", mixture, "--lambdas", "1:1e-3:4"];
    let massart = ["massart", "--data", "mixture:n=16", "--eta", "0.01", "--gamma", "0.3"];
    let focus = ["focus", "--data", mixture, "--max-steps", "1", "--report", "p.json"];
    let commands: [(&[&str], usize); 6] = [
        (&[&["fit", "--data", mixture, "--lambda", "0.01"], &catoni[..]].concat(), 2),
        (&[&path[..], &catoni].concat(), 1),
        (&[&path[..], &["--max-iterations", "1", "--report", "p.json"]].concat(), 1),
        (&[&massart[..], &["--learner", "cuts", "--report", "p.json"]].concat(), 3),
        (&focus, 1),
        (&["report", "--model", "m.json", "--data", "mixture:n=12,seed=3", "--out", "p.json"], 1),
    ];
    for (command, count) in commands {
        let output = workshop.run(command);
        let told = text(&output.stderr);
        let told: Vec<&str> = told.lines().filter_map(|l| l.strip_prefix("warning: ")).collect();
        let page = std::fs::read(workshop.path("p.json")).expect("a report");
        let page: Value = serde_json::from_slice(&page).expect("a document");
        let words = |sentence: &Value| {
            let text = sentence.as_str().expect("a sentence").trim_end_matches('.');
            format!("{}{}", text[..1].to_lowercase(), &text[1..])
        };
        let shown: Vec<String> =
            page["warnings"].as_array().expect("sentences").iter().map(words).collect();
        assert_eq!(told, shown, "{command:?}");
        assert_eq!(told.len(), count, "{command:?}: {told:?}");
    }
}

/// The endings of other formats are refused before anything is read, unless --format is given.
#[test]
fn other_endings_of_reports_are_refused_by_name() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let fit = ["fit", "--data", "none.csv", "--lambda", "0.1", "--report"];
    let report = ["report", "--quiet", "--model", "m.json", "--data", "data.csv", "--out"];
    let reason = "must end in .html or .htm for a page, or in .json for its numbers";
    for (name, ending) in [("p.pdf", "pdf"), ("page.html.gz", "gz"), ("p.JSONL", "JSONL")] {
        for command in [&fit[..], &report] {
            let output = workshop.run(&[command, &[name]].concat());
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(
                message.contains(&format!("the name ends in .{ending}, but {reason}")),
                "{message}"
            );
        }
        let told = [&report[..], &[name, "--format", "html"]].concat();
        workshop.output(&told);
        assert!(workshop.path(name).exists());
    }
    for name in ["page.HTM", "page"] {
        workshop.output(&[&report[..], &[name]].concat());
        let page = std::fs::read_to_string(workshop.path(name)).expect("a report");
        assert!(page.starts_with("<!DOCTYPE html>"), "{name}");
    }
}

/// The page of a fit shows the rows to test it on as the page of the model does.
#[test]
fn rows_to_test_a_fit_on_are_on_its_page() {
    let workshop = Workshop::new();
    let (train, test) = ("mixture:n=80", "mixture:n=60,seed=2");
    let fit = ["fit", "--data", train, "--lambda", "0.01", "--out", "m.json", "--report", "f.html"];
    workshop.output(&[&fit[..], &["--quiet", "--test", test]].concat());
    let of_fit = std::fs::read_to_string(workshop.path("f.html")).expect("a page");
    let report = ["report", "--quiet", "--model", "m.json", "--training", train, "--data", test];
    let of_model = workshop.output(&report);
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
    assert!(message.contains("--test applies to linear learners"), "{message}");
    let over = ["fit", "--data", train, "--lambda", "1", "--report", "t.htm", "--test", "t.htm"];
    let message = text(&workshop.run(&over).stderr);
    assert!(message.contains("--test t.htm"), "{message}");
}

#[test]
fn the_page_and_the_data_are_not_one_file() {
    let workshop = Workshop::new();
    workshop.write("data.html", crate::DATA.as_bytes());
    let page = ["--data", "data.html", "--report", "data.html"];
    for command in [
        &["fit", "--lambda", "1"][..],
        &["path"],
        &["cv"],
        &["focus"],
        &["massart", "--learner", "auto"],
    ] {
        let output = workshop.run(&[command, &page[..]].concat());
        let message = "error: --report data.html would overwrite the input --data data.html";
        assert!(text(&output.stderr).starts_with(message), "{command:?}: {}", text(&output.stderr));
    }
}

/// The pages in frames of both widths, with a line on each: what it shows beyond its frame or cuts.
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
        const page = f.contentDocument, all = which => [...page.querySelectorAll(which)]; \
        const wide = element => element.scrollWidth > element.clientWidth; \
        const has_words = picture => (picture.getAttribute('aria-labelledby') || 'none').split(' ') \
            .every(id => page.getElementById(id)?.textContent.trim().length > 3); \
        const beyond = text => { \
            const [inner, outer] = [text, text.closest('svg')].map(e => e.getBoundingClientRect()); \
            return inner.left < outer.left - 1 || inner.right > outer.right + 1 \
                || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1; }; \
        const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 \
            && a.top < b.bottom - 1 && b.top < a.bottom - 1; \
        const crowded = picture => [...picture.querySelectorAll('text')] \
            .map(text => text.getBoundingClientRect()) \
            .some((box, at, all) => all.slice(at + 1).some(other => overlap(box, other))); \
        const faults = { \
            'the page overflows': wide(page.documentElement) || wide(page.body), \
            'a table cannot scroll': all('table').some(table => !table.closest('.scroll')), \
            'a caption is cut': all('caption').some(c => c.getBoundingClientRect().right > f.clientWidth), \
            'coefficients are cut': all('td.bar').some(bar => wide(bar.closest('.scroll'))), \
            'there is no picture': !page.querySelector('svg[role=img]'), \
            'a picture has no words': !all('svg').every(has_words), \
            'a picture has no numbers': all('svg').some(p => !p.closest('figure')?.querySelector('td')), \
            'text in a picture is cut': all('svg text').some(beyond), \
            'texts in a picture overlap': all('svg').some(crowded), \
        }; \
        const found = Object.keys(faults).filter(fault => faults[fault]).join(', ') || 'fits'; \
        const dark = f.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches; \
        document.body.append(`[${f.name} ${dark ? 'dark' : 'light'}: ${found}]`); } }";
    format!("<!DOCTYPE html><body>{frames}<script>{script}</script></body>")
}

/// Returns true if there is a browser to open pages with; else says that they are not looked at.
fn has_browser() -> bool {
    let found = Command::new("chromium").arg("--version").output().is_ok();
    if !found {
        skipped("there is no chromium here, so that no browser opened the pages");
    }
    found
}

#[test]
fn a_browser_shows_the_pages_without_overflow_or_errors() {
    if !has_browser() {
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
        let lines = shown.split('[').filter_map(|part| part.split_once(']')).map(|(line, _)| line);
        let found: Vec<&str> =
            lines.filter(|line| line.contains(&format!(" {scheme}: "))).collect();
        let expected = pages.iter().flat_map(|(name, _)| {
            [390, 1440].map(|width| format!("{name} {width} {scheme}: fits"))
        });
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
}
