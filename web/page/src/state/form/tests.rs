use super::super::edit::Draft;
use super::super::gallery;
use super::*;

const BASE: &str = "tierscope = 1 # first\n\n[engine]\ng1_blocks = 64 # few\n\n[workload]\nkind = \"synthetic\"\nrequests = 9\n\
    arrival = \"poisson\"\nrate_per_s = 2.0\nprompt_tokens = 40\noutput_tokens = 4\n";

fn edited(text: &str, key: &str, value: &str) -> String {
    field(key).expect(key).edited(text, value).expect("TOML")
}

#[test]
fn an_edit_changes_one_value_and_keeps_the_rest() {
    let text = edited(BASE, "engine.g1_blocks", "128");
    assert_eq!(text, BASE.replace("64", "128"));
    let text = edited(BASE, "engine.eviction", "lineage");
    assert_eq!(text, BASE.replace("few\n", "few\neviction = \"lineage\"\n"));
    assert_eq!(edited(&text, "engine.eviction", ""), BASE);
    let range = edited(BASE, "workload.prompt_tokens", "{ min = 5, max = 9 }");
    assert!(Draft::new(&range).problems.is_empty(), "{range}");
}

#[test]
fn a_wrong_value_is_a_problem_of_its_field() {
    let text = edited(BASE, "engine.g1_blocks", "many");
    let draft = Draft::new(&text);
    let found = problems_of(&draft.problems, "engine.g1_blocks");
    assert_eq!((found.len(), found[0].line), (1, 4));
    assert!(problems_of(&draft.problems, "engine.g1").is_empty());
}

#[test]
fn tiers_come_and_go() {
    let g2 = section("G2, host memory").expect("there");
    let more = g2.added(BASE).expect("TOML");
    let draft = Draft::new(&more);
    assert!(draft.problems.is_empty(), "{more}");
    let outline = draft.scenario.expect("valid");
    assert_eq!(hint("g2.blocks", Some(&outline)), "1,024 blocks, 2.0 GiB");
    let lower = section("G3, local disk").expect("there").added(&more).expect("TOML");
    let less = g2.removed(&lower).expect("TOML");
    assert!(Draft::new(&less).problems.is_empty() && !less.contains("[g"), "{less}");
}

#[test]
fn the_parser_knows_every_key() {
    let full = format!("{BASE}[g2]\nblocks = 9\n[g3]\nblocks = 9\n[g4]\nblocks = 9\n");
    for field in SECTIONS.iter().flat_map(|section| section.fields) {
        let sample = field.choices().first().map_or("1".to_owned(), |choice| choice.word.clone());
        let base = match field.when {
            When::Is("workload.kind", "trace") => full.replace("\"synthetic\"", "\"trace\""),
            _ => full.clone(),
        };
        let text = field.edited(&base, &sample).expect("TOML");
        let unknown = Draft::new(&text)
            .problems
            .iter()
            .any(|problem| problem.key == field.key && problem.found.contains("unknown key"));
        assert!(!unknown, "{}", field.key);
        for choice in field.choices() {
            let text = field.edited(&full, &choice.word).expect("TOML");
            let refused = Draft::new(&text)
                .problems
                .iter()
                .any(|problem| problem.key == field.key && problem.found == format!("{:?}", choice.word));
            assert!(!refused || field.key == "timing.model", "{} = {}", field.key, choice.word);
        }
    }
}

#[test]
fn presets_show_their_sources() {
    let models = field("hardware.model").expect("there").choices();
    assert_eq!(models.len(), 27);
    assert!(models.iter().all(|choice| choice.source.contains("config.json")), "{models:?}");
    assert!(
        field("hardware.gpu")
            .expect("there")
            .choices()
            .iter()
            .all(|choice| choice.source.contains("TFLOP/s"))
    );
    assert_eq!(field("links.disk.preset").expect("there").choices()[0].word, "nvme_gen4");
}

#[test]
fn every_gallery_case_can_be_read_as_a_form() {
    for case in gallery::CASES {
        let values = Values::of(case.text).expect("TOML");
        let shown = SECTIONS
            .iter()
            .flat_map(|section| section.fields)
            .filter(|field| field.is_shown(&values))
            .count();
        assert!(shown > 10, "{}", case.name);
    }
}
