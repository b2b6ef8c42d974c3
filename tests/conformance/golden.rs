//! Golden cases as files: a scenario, and one JSON object a step.

use std::path::Path;

use serde_json::Value;

/// A scenario with the steps that vLLM took on it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) scenario: Value,
    pub(crate) config: Value,
    pub(crate) compact: bool,
    pub(crate) steps: Vec<Value>,
}

/// All cases of a folder, by name.
pub(crate) fn cases(directory: &Path) -> Vec<Case> {
    let mut names: Vec<String> = std::fs::read_dir(directory.join("golden"))
        .expect("the folder of golden files can be listed")
        .filter_map(|entry| {
            let name = entry.expect("an entry can be read").file_name().into_string().ok()?;
            Some(name.strip_suffix(".jsonl")?.to_owned())
        })
        .collect();
    names.sort();
    names.into_iter().map(|name| read(directory, name)).collect()
}

fn read(directory: &Path, name: String) -> Case {
    let text = |path: &Path| {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let json = |text: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let scenario = json(&text(&directory.join(format!("scenarios/{name}.json"))));
    let golden = text(&directory.join(format!("golden/{name}.jsonl")));
    let mut lines: Vec<Value> = golden.lines().map(json).collect();
    let config = lines.remove(0)["config"].take();
    lines.pop();
    let compact = scenario.get("detail").is_some_and(|detail| detail != "full");
    Case { name, scenario, config, compact, steps: lines }
}

impl Case {
    /// A configured number.
    pub(crate) fn number(&self, key: &str) -> Option<u32> {
        self.config[key].as_u64().map(|n| u32::try_from(n).expect("configured numbers are small"))
    }

    /// A configured switch.
    pub(crate) fn on(&self, key: &str) -> bool {
        self.config[key].as_bool() == Some(true)
    }

    /// Why the case cannot be compared, if so.
    pub(crate) fn unsupported(&self) -> Option<&'static str> {
        let both = self.cpu_chunks().is_some() && self.on("async_scheduling");
        both.then_some("asynchronous scheduling with a connector")
    }

    /// Chunks of the CPU tier, where there is one.
    pub(crate) fn cpu_chunks(&self) -> Option<u32> {
        self.number("cpu_chunks").filter(|&chunks| chunks > 0)
    }

    /// Whether a step loads the prompt of a request that is one token long. vLLM computes the last token of a loaded
    /// prompt again; of this one nothing is left, so that it finds it and loads it again, for ever.
    pub(crate) fn loads_for_ever(&self, step: &Value) -> bool {
        let requests = self.scenario["requests"].as_array().expect("a scenario has requests");
        let is_short = |id: &Value| {
            let request = requests.iter().find(|request| request["id"] == *id);
            request.is_some_and(|request| {
                crate::replay::prompt(request).iter().map(|run| run.len).sum::<u32>() == 1
            })
        };
        step["xfer"]["loads"].as_array().into_iter().flatten().any(|load| is_short(&load[1]))
    }
}

/// Whether a step has a padded row that was cut below its padding. vLLM 0.33.0 fails an assertion there, so
/// no file of its own has one; the reference model goes on in a way that means nothing.
pub(crate) fn is_past_an_assertion(step: &Value) -> bool {
    let rows = ["new", "resumed"].into_iter().flat_map(|list| step[list].as_array().into_iter().flatten());
    let drafts = |id: &Value| id.as_str().and_then(|id| step["spec"][id].as_u64());
    rows.into_iter().any(|row| drafts(&row[0]).is_some_and(|drafts| row[1].as_u64() <= Some(drafts)))
}
