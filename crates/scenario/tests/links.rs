//! Links that are out in the world stay readable: each golden link decodes to the text that it was made of. And links
//! stay short.

use tierscope_scenario::{link, parse_any};

const GOLDEN: &str = include_str!("links/golden.txt");

/// The texts of the golden links.
const TEXTS: [(&str, &str); 4] = [
    ("smallest.toml", include_str!("links/smallest.toml")),
    ("first-steps.toml", include_str!("links/first-steps.toml")),
    ("fifty.toml", include_str!("links/fifty.toml")),
    ("as-json.json", include_str!("links/as-json.json")),
];

#[test]
fn golden_links_decode_to_their_texts() {
    let links: Vec<(&str, &str)> = GOLDEN
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').expect("a name and a link"))
        .collect();
    for version in ["v1.", "v2."] {
        for (name, text) in TEXTS {
            parse_any(text).expect("a scenario");
            let mut own = links.iter().filter(|(of, link)| *of == name && link.starts_with(version));
            assert!(own.clone().count() >= 1, "no {version} link of {name}");
            assert!(own.all(|(_, link)| link::decode(link).as_deref() == Ok(text)), "{version} of {name}");
        }
    }
    assert!(links.iter().all(|(of, _)| TEXTS.iter().any(|(name, _)| name == of)));
}

/// Fifty requests as a script writes them, each with what `request` makes of its number, its time, and the lengths of
/// prompt and answer.
fn fifty(request: impl Fn(u32, u32, [u32; 2]) -> String) -> String {
    // A little generator: nothing here is drawn from outside.
    let mut state = 12_345u32;
    let mut draw = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    let mut at_ms = 0;
    let one = |at| {
        at_ms += draw(3_000);
        request(at, at_ms, [16 + draw(16_000), 1 + draw(900)])
    };
    (0..50).map(one).collect()
}

fn scenario(workload: &str) -> String {
    format!(
        "tierscope = 1\ntitle = \"Fifty requests of our service\"\nseed = 7\n\n[engine]\ng1_blocks = 2000\n\n\
         [g2]\nblocks = 8000\n\n[timing]\nmodel = \"fixed\"\n\n[workload]\nkind = \"requests\"\n{workload}"
    )
}

#[test]
fn an_inline_workload_of_fifty_requests_is_short() {
    let list = fifty(|_, at_ms, [prompt, output]| {
        format!("  {{ at_ms = {at_ms}, prompt_tokens = {prompt}, output_tokens = {output} }},\n")
    });
    let tables = fifty(|_, at_ms, [prompt, output]| {
        format!(
            "\n[[workload.request]]\nat_ms = {at_ms}\nprompt_tokens = {prompt}\noutput_tokens = {output}\n"
        )
    });
    let chained = fifty(|number, delay, [prompt, output]| match number {
        0 => format!("  {{ at_ms = 0, prompt = [[1000000, {prompt}]], output_tokens = {output} }},\n"),
        _ => format!(
            "  {{ after = {}, delay_ms = {delay}, prompt = [[1000000, {prompt}], [{}, 64]], output_tokens = {output}, \
             priority = {} }},\n",
            number - 1,
            2_000_000 + 1_000 * number,
            number % 3
        ),
    });
    for workload in [format!("request = [\n{list}]\n"), tables, format!("request = [\n{chained}]\n")] {
        let text = scenario(&workload);
        parse_any(&text).expect("a scenario");
        let hash = format!("#{}", link::encode(&text));
        assert!(hash.len() <= 2_000, "{} characters for {} bytes", hash.len(), text.len());
    }
}
