//! Links of the gallery's cases: short enough for a chat line.

use tierscope_scenario::link;

/// With 32 characters more for a time, the version and the digest, 200 in all.
#[test]
fn a_case_of_the_gallery_is_short() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/gallery");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).expect("the gallery") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a scenario");
        let hash = format!("#{}", link::encode(&text));
        assert!(hash.len() <= 168, "{}: {} characters", path.display(), hash.len());
        cases += 1;
    }
    assert!(cases > 20, "{cases} cases");
}
