use tierscope_units::Digest;

use super::*;

const TEXT: &str = "tierscope = 1\ntitle = \"Ünïcode\"\n";

/// A link of the first version, as older releases write it.
fn first(text: &[u8]) -> String {
    let packed = miniz_oxide::deflate::compress_to_vec(text, 9);
    format!("v1.{}", BASE64.encode(packed))
}

#[test]
fn the_dictionary_is_never_changed() {
    let digest = Digest::of(pack::DICTIONARY);
    expect_test::expect!["ee7bc2dad4ff5bdfdbf2edc3cc28c595"].assert_eq(&digest.to_string());
    assert!(pack::DICTIONARY.len() <= 1 << 15, "a distance reaches no further");
}

#[test]
fn whatever_people_paste_decodes() {
    for link in [encode(TEXT), first(TEXT.as_bytes())] {
        assert!(is_link(&link) && link.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b)));
        for pasted in [
            link.clone(),
            format!("#{link}"),
            format!("https://example.org/t/?x=1#{link}"),
            format!(" {link}&t=5 \n"),
            format!("{link}=="),
        ] {
            assert_eq!(decode(&pasted).as_deref(), Ok(TEXT), "{pasted}");
        }
    }
    assert!(encode(TEXT).starts_with("v2."));
}

#[test]
fn what_is_no_link_says_why() {
    let (link, old) = (encode(TEXT), first(TEXT.as_bytes()));
    let errors = [
        "",
        "https://example.org/#",
        "hello",
        "v9.abc",
        "v1.a",
        "v1.%%%",
        "v2.%%%",
        &link[..link.len() - 4],
        &old[..old.len() - 4],
        "v1.AAAA",
        "v2.AAAA",
    ]
    .map(decode);
    for error in errors {
        let message = error.expect_err("no link").to_string();
        assert!(
            message.contains("found") && message.contains("expected") && message.contains("mend: "),
            "{message}"
        );
    }
    expect_test::expect![[r##"
        error: link: found link version "v9", expected v1.… or v2.…, the versions understood
          mend: open it with the release that made it, or a newer one"##]]
    .assert_eq(&decode("v9.abc").expect_err("no link").to_string());
}

#[test]
fn a_bomb_is_refused() {
    let bomb = "a".repeat(limit::SCENARIO_TEXT_BYTES + 1);
    let largest = &bomb[1..];
    for pack in [encode, |text: &str| first(text.as_bytes())] {
        let link = pack(&bomb);
        assert!(link.len() < 4_000);
        assert_eq!(decode(&link), Err(LinkError::TooLarge));
        assert_eq!(decode(&pack(largest)).as_deref(), Ok(largest));
    }
    assert_eq!(decode(&"x".repeat(1 << 21)), Err(LinkError::TooLong { bytes: 1 << 21 }));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(decode(&first(&[0xff, 0xfe])), Err(LinkError::NotText));
    let second = format!("v2.{}", BASE64.encode(pack::pack(&[0xff, 0xfe])));
    assert_eq!(decode(&second), Err(LinkError::NotText));
}

#[test]
fn the_dictionary_is_no_part_of_the_text() {
    assert_eq!(decode(&encode("")).as_deref(), Ok(""));
    // Whatever is cut off, and whatever is changed: a text, or words, never a panic.
    let link = encode(TEXT);
    for cut in 0..link.len() {
        if let Ok(text) = decode(&link[..cut]) {
            assert!(!text.contains("[engine]"), "the dictionary shows through: {text}");
        }
    }
}
