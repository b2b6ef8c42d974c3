//! The checks of text, each with what it finds and what it lets pass.

use super::*;

fn lines(findings: &[Finding]) -> Vec<(usize, &str)> {
    findings.iter().map(|finding| (finding.line, finding.what.as_str())).collect()
}

#[test]
fn words_of_unfinished_work_are_found_with_their_line() {
    let code = code_only(
        "fn a() {\n    todo!()\n}\n// todo!() in a comment\nlet s = \"dbg!(1)\";\n#[ignore = \"slow\"]\n",
    );
    let found = check_words("crates/cli/src/a.rs", &code);
    assert_eq!(lines(&found), [(2, "`todo!` in committed code"), (6, "`#[ignore` in committed code")]);
    let shown = found[0].to_string();
    assert!(
        shown.starts_with("crates/cli/src/a.rs:2: `todo!`") && shown.contains("mend: finish it"),
        "{shown}"
    );
}

#[test]
fn a_platform_switch_in_a_pure_crate_is_found() {
    let switches = [
        "#[cfg(target_arch = \"wasm32\")]",
        "if cfg!( target_family = \"x\") {",
        "#[cfg(any(test,\n    target_pointer_width = \"64\"))]",
    ];
    for switch in switches {
        let found = check_pure("crates/engine/src/a.rs", &code_only(switch), &[]);
        assert_eq!(found.len(), 1, "{switch}");
        assert_eq!(found[0].what, "a platform switch in a pure crate");
    }
    assert!(
        check_pure("crates/engine/src/a.rs", &code_only("#[cfg(test)]\n// target_arch\n"), &[]).is_empty()
    );
}

#[test]
fn only_pure_crates_are_held_to_the_sizes() {
    assert!(is_pure("crates/engine/src/pool.rs") && is_pure("crates/units/src/lib.rs"));
    assert!(
        !is_pure("crates/cli/src/main.rs")
            && !is_pure("crates/engines/src/lib.rs")
            && !is_pure("web/page/src/lib.rs")
    );
}

#[test]
fn a_long_function_is_found_and_may_be_listed_at_its_size() {
    let code = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(71));
    let file = "crates/sim/src/a.rs";
    assert_eq!(lines(&check_pure(file, &code, &[])), [(1, "fn long has 71 code lines, at most 70")]);
    let listed = "crates/sim/src/a.rs::long";
    assert!(check_pure(file, &code, &[(listed, 71)]).is_empty());
    assert!(check_exception(listed, 71, Some(&code)).is_none());

    let loose = check_exception(listed, 90, Some(&code)).expect("it could grow unseen");
    assert!(loose.what.contains("have 90 lines; it has 71"), "{loose}");
    let needless = check_exception(listed, 71, Some("fn long() {}")).expect("it is short now");
    assert!(needless.what.contains("no longer needs it"), "{needless}");
    let gone = check_exception(listed, 71, None).expect("the file is not there");
    assert!(gone.what.contains("not there"), "{gone}");
}

#[test]
fn a_long_file_is_found() {
    let code = "x\n".repeat(501);
    let found = check_pure("crates/report/src/a.rs", &code, &[]);
    assert_eq!(lines(&found), [(1, "501 lines, at most 500")]);
    assert!(check_pure("crates/report/src/a.rs", &code, &[("crates/report/src/a.rs", 501)]).is_empty());
}

#[test]
fn a_registrys_host_is_found_and_a_package_is_not() {
    let text = format!("serde = \"1\"\n# from {}\n", registry_hosts()[0]);
    let found = check_hosts("Cargo.toml", &text);
    assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [2]);
    let lock = format!("\"resolved\": \"https://{}/a\"", registry_hosts()[1]);
    assert!(check_hosts("tests/browser/package-lock.json", &lock)[0].mend.contains("\"resolved\""));
}

#[test]
fn every_room_is_in_the_architecture() {
    let folders = ["crates/engine".to_owned(), "web/page".to_owned()];
    let found = check_architecture("- `crates/engine` decides.", &folders);
    assert_eq!(lines(&found), [(1, "does not mention web/page")]);
}

#[test]
fn the_changelog_has_the_version_or_what_is_not_released() {
    assert!(check_changelog("# Changelog\n\n## Unreleased\n", "0.1.0").is_empty());
    assert!(check_changelog("## 0.1.0 (today)\n", "0.1.0").is_empty());
    assert_eq!(check_changelog("Unreleased, 0.1.0, but no section\n", "0.1.0").len(), 1);
    assert_eq!(workspace_version("[workspace]\n[workspace.package]\nversion = \"1.2.3\"\n"), "1.2.3");
}

#[test]
fn data_is_not_committed() {
    let here = Path::new("no-such-file");
    assert!(check_is_no_data("crates/a.rs", here, 1_000).is_empty());
    assert_eq!(check_is_no_data("shared/data/traces/a.jsonl", here, 10).len(), 1);
    assert_eq!(check_is_no_data("tests/trace.jsonl", here, FILE_BYTES_MAX + 1).len(), 1);
    assert!(check_is_no_data("docs/page.png", here, FILE_BYTES_MAX + 1).is_empty());
}
