//! Any text is an application file, or refused inside of it; what is read says the same when it is written as JSON.

use pathline_release::application::Application;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let name = "shop.web".parse().expect("a name");
    match Application::read(text, &name) {
        Err(refused) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&refused.position.line), "{refused}");
        }
        Ok(read) => {
            assert_eq!(read.config_hash().len(), 64);
            let effective = read.effective(&serde_json::Value::Null, "dev", Some("dev"));
            assert!(effective.is_object(), "{effective}");
            let commented = format!("{text}\n# a comment\n");
            if let Ok(again) = Application::read(&commented, &name) {
                assert_eq!(again.label(), read.label());
            }
        }
    }
}
