//! Documents that must follow the code: every key that the parser knows is in `docs/SCENARIOS.md`.

use tierscope_scenario::parse_any;

const DOCUMENT: &str = include_str!("../docs/SCENARIOS.md");

/// The keys that a table knows: the parser lists them when it meets one that resembles none.
fn keys(text: &str) -> Vec<String> {
    const MARK: &str = "the keys here are ";
    let problems = parse_any(text).expect_err("an unknown key is an error");
    let mend = problems.iter().find_map(|problem| problem.mend.split(MARK).nth(1));
    let keys = mend.unwrap_or_else(|| panic!("no list of keys for:\n{text}\n{problems:?}"));
    keys.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_scenario_is_documented() {
    const ODD: &str = "qqqqqqqqqqqq = 1";
    let hardware = "[hardware]\nmodel = \"llama-3.1-8b\"\ngpu = \"h100-sxm\"\n";
    let g2 = "[g2]\nblocks = 1\n";
    let split = "[workers]\nprefill = 1\ndecode = 1\n";
    let tables = [
        format!("tierscope = 1\n{ODD}\n"),
        format!("[engine]\n{ODD}\n"),
        format!("[g2]\nblocks = 1\n{ODD}\n"),
        format!("{g2}[offload]\n{ODD}\n"),
        format!("{g2}[lanes]\n{ODD}\n"),
        format!("{g2}[lanes.g1_g2]\n{ODD}\n"),
        format!("{g2}[links]\n{ODD}\n"),
        format!("{g2}[links.pcie]\n{ODD}\n"),
        format!("{g2}[[fault]]\n{ODD}\n"),
        format!("{split}{ODD}\n"),
        format!("{split}[router]\n{ODD}\n"),
        format!("{split}[handoff]\n{ODD}\n"),
        format!("{split}[links.handoff]\n{ODD}\n"),
        format!("{split}[[worker]]\n{ODD}\n"),
        format!("{split}[[message_fault]]\n{ODD}\n"),
        format!("[hardware]\n{ODD}\n"),
        format!("[slo]\n{ODD}\n"),
        format!("[expect]\n{ODD}\n"),
        format!("[timing]\nmodel = \"fixed\"\n{ODD}\n"),
        format!("[timing]\nmodel = \"polynomial\"\n{ODD}\n"),
        format!("{hardware}[timing]\nmodel = \"roofline\"\n{ODD}\n"),
        format!("[workload]\nkind = \"synthetic\"\n{ODD}\n"),
        format!("[workload]\nkind = \"trace\"\n{ODD}\n"),
        format!("[workload]\nkind = \"requests\"\n[[workload.request]]\n{ODD}\n"),
    ];
    for text in tables {
        let known = keys(&text);
        assert!(!known.is_empty(), "{text}");
        for key in known {
            let shown = [format!("`{key}`"), format!("`[{key}]`"), format!("`{key} =")];
            assert!(
                shown.iter().any(|shown| DOCUMENT.contains(shown)),
                "docs/SCENARIOS.md lacks `{key}` of {text}"
            );
        }
    }
}

/// A key that the parser does not know would be found missing: the check is not blind.
#[test]
fn a_key_that_is_not_documented_is_noticed() {
    assert!(!DOCUMENT.contains("`qqqqqqqqqqqq`"));
}
