//! The charts as SVG: every label is there, inside the picture, and no two texts touch.

use parkbench_view::Theme;
use parkbench_view::charts::{Bar, Beside, LatencyRow, height_for, latency_chart, throughput_chart};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea};
use plotters_svg::SVGBackend;

/// A text of the picture with its box, from the attributes that plotters-svg writes.
#[derive(Debug)]
struct Text {
    content: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

fn texts(svg: &str) -> Vec<Text> {
    let attribute = |tag: &str, name: &str| -> String {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).expect("plotters-svg writes this attribute");
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let parts = svg.split("<text").skip(1).filter_map(|part| part.split_once('>'));
    parts
        .map(|(tag, rest)| {
            let content = rest.split("</text>").next().unwrap_or_default().trim().to_owned();
            let number = |name| attribute(tag, name).parse::<f64>().expect("a number");
            // A sans-serif digit is 0.56 em wide at most; plotters-svg divides the size by 1.24.
            let (x, y, size) = (number("x"), number("y"), number("font-size") * 1.24);
            let width = content.chars().count() as f64 * size * 0.56;
            let left = match attribute(tag, "text-anchor").as_str() {
                "start" => x,
                "end" => x - width,
                _ => x - width / 2.0,
            };
            Text { content, left, right: left + width, top: y, bottom: y + size }
        })
        .collect()
}

fn draw(width: u32, height: u32, paint: impl Fn(&DrawingArea<SVGBackend<'_>, Shift>)) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        paint(&root);
        root.present().expect("memory takes every picture");
    }
    svg
}

#[track_caller]
fn check(svg: &str, width: u32, height: u32, expect: &[&str]) {
    let texts = texts(svg);
    for expect in expect {
        assert!(texts.iter().any(|text| text.content.contains(expect)), "{expect:?} is not in {texts:#?}");
    }
    for (i, a) in texts.iter().enumerate() {
        assert!(
            a.left >= -1.0 && a.right <= f64::from(width) + 1.0 && a.top >= 0.0 && a.bottom <= f64::from(height),
            "{a:?} leaves {width} x {height}"
        );
        for b in &texts[i + 1..] {
            let apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            assert!(apart, "{a:?} touches {b:?}");
        }
    }
}

fn bar(label: &str, simulated: f64, reference: Option<f64>) -> Bar {
    let reference = reference.map(|value| Beside { word: "seed".to_owned(), value });
    Bar { label: label.to_owned(), simulated, reference }
}

#[test]
fn throughput() {
    let seed = [
        bar("Thread pool, fixed-12", 238.8, Some(250.0)),
        bar("Green threads, java-25", 143_464.0, Some(144_000.0)),
        bar("Coroutines, kotlin-io", 81_400.0, None),
    ];
    for (width, text) in [(320, 12), (390, 13), (640, 13), (1_280, 26)] {
        let height = height_for(seed.len(), text);
        for theme in Theme::ALL {
            let svg = draw(width, height, |root| throughput_chart(root, &seed, theme, text).unwrap());
            let expect =
                ["Thread pool, fixed-12", "239 /s | seed 250 /s", "143.5 K/s", "81.4 K/s", "1 K/s", "log scale"];
            check(&svg, width, height, &expect);
            // Logarithmic: dots, no bars.
            assert_eq!(svg.matches("<circle").count(), 3);
        }
    }
}

#[test]
fn a_narrow_axis_leaves_labels_out() {
    for most in [2e4, 2e6, 2e8] {
        let bars = [bar("Pool", 2.0, None), bar("Loop", most, None)];
        for width in [170, 200, 240] {
            let svg = draw(width, 150, |root| throughput_chart(root, &bars, Theme::Light, 13).unwrap());
            check(&svg, width, 150, &["1 /s", "log scale"]);
        }
    }
}

#[test]
fn a_linear_scale_has_bars() {
    let bars = [bar("Thread pool", 386_000.0, Some(389_000.0)), bar("Green threads", 375_000.0, Some(388_000.0))];
    let svg = draw(500, 150, |root| throughput_chart(root, &bars, Theme::Light, 13).unwrap());
    check(&svg, 500, 150, &["386.0 K/s | seed 389.0 K/s", "200 K/s"]);
    assert_eq!(svg.matches("<circle").count(), 0);
    let muted = Theme::Light.muted().css().to_uppercase();
    let bars = svg.split("<rect").filter(|part| part.split('>').next().is_some_and(|tag| tag.contains(&muted)));
    assert_eq!(bars.count(), 2, "{svg}");
}

#[test]
fn latency() {
    let row = |label: &str, p50, p95, p99| LatencyRow { label: label.to_owned(), p50, p95, p99 };
    let rows = [
        row("Thread pool, fixed-12", 50_214_000, 50_214_000, 50_214_000),
        row("Green threads, java-25", 51_000_000, 52_900_000, 53_000_000),
        row("Coroutines, kotlin-io", 41_700_000_000, 41_800_000_000, 41_900_000_000),
    ];
    for (width, text) in [(320, 11), (640, 13), (1_280, 26)] {
        let height = height_for(rows.len(), text) * 4 / 3;
        let svg = draw(width, height, |root| latency_chart(root, &rows, Theme::Dark, text).unwrap());
        check(&svg, width, height, &["p50 50.2 ms, p95 50.2 ms, p99 50.2 ms", "p99 41.9 s", "100 ms"]);
    }
}

#[test]
fn no_runs_and_no_room_draw_without_a_fault() {
    for (width, height) in [(1, 1), (40, 10), (300, 100)] {
        for bars in [vec![], vec![bar("Thread pool", f64::INFINITY, Some(f64::NAN)), bar("", 0.0, None)]] {
            let svg = draw(width, height, |root| throughput_chart(root, &bars, Theme::Light, 13).unwrap());
            assert!(svg.ends_with("</svg>\n"), "{svg}");
        }
        draw(width, height, |root| latency_chart(root, &[], Theme::Light, 13).unwrap());
    }
}
