//! Draws charts into texts.
use plotters::prelude::*;

fn main() {
    let mut charts = Vec::new();
    for of in 0..20 {
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, (800, 600)).into_drawing_area();
            let mut chart = ChartBuilder::on(&root).margin(5).build_cartesian_2d(0.0..10.0, -1.0..1.0).unwrap();
            let points = (0..5_000).map(|at| (f64::from(at) / 500.0, (f64::from(at + of) / 100.0).sin()));
            chart.draw_series(LineSeries::new(points, &RED)).unwrap();
            root.present().unwrap();
        }
        charts.push(text);
    }
    println!("{}", charts.iter().map(String::len).sum::<usize>());
}
