//! Prints the errors of a long source file.
use ariadne::{Label, Report, ReportKind, Source};

fn main() {
    let text: String = (0..5_000).map(|line| format!("let item_{line} = parse(input_{line}) + other_{line};\n")).collect();
    let starts: Vec<usize> = text.match_indices("let ").map(|(at, _)| at).collect();
    let mut source = Source::from(text.as_str());
    let mut out = Vec::new();
    let reports: Vec<Report> = starts.iter().take(3_000).map(|at| {
        Report::build(ReportKind::Error, at + 4..at + 10)
            .with_message("this name is not known")
            .with_label(Label::new(at + 4..at + 10).with_message("declared here"))
            .with_label(Label::new(at + 16..at + 21).with_message(format!("called at {at}")))
            .with_note("names begin with a letter")
            .finish()
    }).collect();
    for report in &reports {
        report.write(&mut source, &mut out).unwrap();
    }
    println!("{}", out.len());
}
