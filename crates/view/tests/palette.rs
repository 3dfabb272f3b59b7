//! Contrast and distances of the state colours, measured as the design says they were chosen.

use parkbench_engine::{Activity, TaskState};
use parkbench_view::{Rgb, Theme};

/// Linear light of an sRGB colour.
fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|channel| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = linear(colour);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// WCAG contrast ratio.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Sight as it is simulated: all cones, or full protanopia, deuteranopia or tritanopia.
/// Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009,
/// severity 1.0; the matrices work on linear light.
const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    ),
    (
        "deuteranopia",
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ),
    (
        "tritanopia",
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
    ),
];

/// CAM02-UCS coordinates of linear sRGB, for an average surround, D65, 64 lx on a grey of 20 %.
#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn cam02_ucs(linear: [f64; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] =
        [[41.239_08, 35.758_434, 18.048_079], [21.263_901, 71.516_868, 7.219_232], [1.933_082, 11.919_478, 95.053_215]];
    const CAT02: [[f64; 3]; 3] = [[0.7328, 0.4296, -0.1624], [-0.7036, 1.6975, 0.0061], [0.0030, 0.0136, 0.9834]];
    const CAT02_BACK: [[f64; 3]; 3] =
        [[1.096_124, -0.278_869, 0.182_745], [0.454_369, 0.473_533, 0.072_098], [-0.009_628, -0.005_698, 1.015_326]];
    const HPE: [[f64; 3]; 3] = [[0.389_71, 0.688_98, -0.078_68], [-0.229_81, 1.183_40, 0.046_41], [0.0, 0.0, 1.0]];
    let (adapting, background) = (64.0 / std::f64::consts::PI / 5.0, 20.0);
    let (f, c, nc) = (1.0, 0.69, 1.0);
    let white = times(XYZ, [1.0; 3]);
    let k = 1.0 / (5.0 * adapting + 1.0);
    let fl = 0.2 * k.powi(4) * 5.0 * adapting + 0.1 * (1.0 - k.powi(4)).powi(2) * (5.0 * adapting).cbrt();
    let n = background / white[1];
    let nbb = 0.725 * n.powf(-0.2);
    let z = 1.48 + n.sqrt();
    let d = f * (1.0 - (1.0 / 3.6) * ((-adapting - 42.0) / 92.0_f64).exp());
    let white_cat = times(CAT02, white);
    let respond = |xyz: [f64; 3]| {
        let cat = times(CAT02, xyz);
        let adapted: [f64; 3] = std::array::from_fn(|i| cat[i] * (white[1] * d / white_cat[i] + 1.0 - d));
        times(HPE, times(CAT02_BACK, adapted)).map(|v| {
            let p = (fl * v.abs() / 100.0).powf(0.42);
            v.signum() * 400.0 * p / (p + 27.13) + 0.1
        })
    };
    let achromatic = |[r, g, b]: [f64; 3]| (2.0 * r + g + b / 20.0 - 0.305) * nbb;
    let (response, white_response) = (respond(times(XYZ, linear)), respond(white));
    let [r, g, b_] = response;
    let (a, b) = (r - 12.0 * g / 11.0 + b_ / 11.0, (r + g - 2.0 * b_) / 9.0);
    let hue = b.atan2(a);
    let eccentricity = 0.25 * ((hue + 2.0).cos() + 3.8);
    let t = (50_000.0 / 13.0 * nc * nbb * eccentricity * a.hypot(b)) / (r + g + 21.0 / 20.0 * b_);
    let lightness = 100.0 * (achromatic(response).max(0.0) / achromatic(white_response)).powf(c * z);
    let chroma = t.powf(0.9) * (lightness / 100.0).sqrt() * (1.64 - 0.29_f64.powf(n)).powf(0.73);
    let colourfulness = chroma * fl.powf(0.25);
    let m = (1.0 + 0.0228 * colourfulness).ln() / 0.0228;
    [1.7 * lightness / (1.0 + 0.007 * lightness), m * hue.cos(), m * hue.sin()]
}

fn distance(a: Rgb, b: Rgb, sight: [[f64; 3]; 3]) -> f64 {
    let [a, b] = [a, b].map(|colour| cam02_ucs(times(sight, linear(colour)).map(|v| v.clamp(0.0, 1.0))));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Published values of CAM02-UCS, to know that the measure itself is right.
#[test]
fn the_measure_is_cam02_ucs() {
    let white = cam02_ucs([1.0; 3]);
    assert!((white[0] - 100.0).abs() < 0.01 && white[1].abs() < 2.0 && white[2].abs() < 2.0, "{white:?}");
    let black = cam02_ucs([0.0; 3]);
    assert!(black[0].abs() < 0.01, "{black:?}");
    let red = cam02_ucs([1.0, 0.0, 0.0]);
    assert!((red[0] - 60.05).abs() < 0.5 && (red[1] - 38.67).abs() < 1.0 && (red[2] - 24.33).abs() < 1.0, "{red:?}");
}

#[test]
fn every_state_but_pending_stands_out_from_the_background() {
    for theme in Theme::ALL {
        for state in TaskState::ALL {
            let ratio = contrast(theme.state(state), theme.background());
            if state == TaskState::Pending {
                assert!(ratio < 2.0, "pending recedes; {theme:?} has {ratio:.2}");
            } else {
                assert!(ratio >= 3.0, "{theme:?} {state:?} has {ratio:.2}");
            }
        }
        for activity in
            [Activity::Running, Activity::Blocked, Activity::Preempted, Activity::Overhead, Activity::Waking]
        {
            let ratio = contrast(theme.activity(activity), theme.background());
            assert!(ratio >= 3.0, "{theme:?} {activity:?} has {ratio:.2}");
        }
        assert!(contrast(theme.text(), theme.background()) >= 7.0);
        assert!(contrast(theme.muted(), theme.panel()) >= 4.5);
        assert!(contrast(theme.accent(), theme.background()) >= 4.5);
    }
}

#[track_caller]
fn check_distances<T: Copy + std::fmt::Debug>(members: &[T], colour: impl Fn(Theme, T) -> Rgb, at_least: f64) {
    for theme in Theme::ALL {
        for (sight, matrix) in SIGHTS {
            for (i, &a) in members.iter().enumerate() {
                for &b in &members[i + 1..] {
                    let d = distance(colour(theme, a), colour(theme, b), matrix);
                    assert!(d >= at_least, "{theme:?}, {sight}: {a:?} and {b:?} are {d:.1} apart");
                }
            }
        }
    }
}

// The thresholds are the smallest distances that the colours have now, rounded down: nobody makes them worse unseen.

#[test]
fn states_are_told_apart_by_all_eyes() {
    check_distances(&TaskState::ALL, Theme::state, 16.0);
}

#[test]
fn activities_are_told_apart_by_all_eyes() {
    // Idle and absent are near each other on purpose: both recede into the background.
    check_distances(&Activity::ALL, Theme::activity, 8.8);
    let active = [Activity::Waking, Activity::Overhead, Activity::Running, Activity::Blocked, Activity::Preempted];
    check_distances(&active, Theme::activity, 16.0);
}
