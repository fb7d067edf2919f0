//! Connected and disconnected again: the bytes that were there before.

use super::*;

const JSON: [&str; 10] = [
    "{}",
    "{}\n",
    "",
    "\n",
    "// nothing yet\n",
    "{\r\n    \"model\": \"opus\", // mine\r\n    \"env\": { },\r\n}\r\n",
    "\u{feff}{\n\t\"model\": \"opus\"\n\n}",
    "{\"hooks\":{}}",
    "{\n   \"hooks\": {\n      \"PreToolUse\": [],\n\n      \"Stop\": [ /* none */ ]\n   }\n}\n\n\n",
    "{ \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./check\"}]}]}, \"model\": \"opus\" }",
];

const TOML: [&str; 6] = [
    "",
    "model = \"opus\"",
    "model = \"opus\" # mine\r\n\r\n[mcp_servers.files]\r\ncommand = 'x'\r\n",
    "\n\n# only a comment",
    "[hooks]\n",
    "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ncommand = \"./check\"\n\n\n",
];

fn texts(agent: &ConnectableAgent) -> &'static [&'static str] {
    match agent.format {
        agents::ConfigFormat::Json => &JSON,
        agents::ConfigFormat::Toml => &TOML,
        agents::ConfigFormat::Plugin => &[],
    }
}

#[test]
fn the_old_bytes_come_back() {
    for agent in list_agents() {
        for text in texts(agent) {
            let home = Home::new();
            home.write(agent, text);
            let connected = home.connect(agent).unwrap();
            assert_ne!(connected, *text);
            assert_eq!(
                home.disconnect(agent).as_deref(),
                Some(*text),
                "{}",
                agent.id
            );
        }
    }
}

/// Something else in the file changed since: it stays, and all around it.
#[test]
fn what_changed_since_stays() {
    for agent in list_agents() {
        for text in texts(agent).iter().filter(|text| text.contains("opus")) {
            let home = Home::new();
            home.write(agent, text);
            let connected = home.connect(agent).unwrap();
            home.write(agent, &connected.replace("opus", "sonnet"));
            let after = home.disconnect(agent).unwrap();
            // A last line without an end has one since tables stand behind it.
            let expected = text.replace("opus", "sonnet");
            assert_eq!(after.trim_end(), expected.trim_end(), "{}", agent.id);
        }
    }
}

/// A second program takes the place of the first, and the bytes before the first come back.
#[test]
fn a_program_takes_the_place_of_another() {
    for agent in list_agents() {
        for text in texts(agent) {
            let home = Home::new();
            home.write(agent, text);
            let first = home.connect(agent).unwrap();
            let mut place = home.place();
            place.program = Some("/usr/bin/countersign".into());
            let change = plan_connect(agent, &place).unwrap().unwrap();
            change.apply().unwrap();
            let second = home.read(agent).unwrap();
            assert_eq!(
                second,
                first.replace("'/opt/my apps/countersign'", "/usr/bin/countersign")
            );
            assert_eq!(
                home.disconnect(agent).as_deref(),
                Some(*text),
                "{}",
                agent.id
            );
        }
    }
}

#[test]
fn what_only_connecting_made_is_removed() {
    for id in ["claude-code", "opencode", "cursor"] {
        let home = Home::new();
        let config = home.place().config_file(agent(id));
        let folder = config.parent().unwrap();
        assert!(home.connect(agent(id)).is_some());
        assert_eq!(home.disconnect(agent(id)), None);
        // In a folder with something else in it, and after the file was written again by somebody else.
        home.write_file(&folder.join("other"), "");
        home.connect(agent(id));
        if agent(id).format == agents::ConfigFormat::Json {
            let text = home.read(agent(id)).unwrap();
            home.write(agent(id), &format!("{text}\n"));
        }
        assert_eq!(home.disconnect(agent(id)), None, "{id}");
        assert_eq!(runtime::list_file_names(folder).unwrap(), ["other"], "{id}");
    }
}

/// Without a record, as in another data folder, what is ours is found by its words.
#[test]
fn ours_is_taken_out_without_a_record() {
    for agent in list_agents() {
        let home = Home::new();
        home.write(agent, "");
        home.connect(agent);
        home.place().records().forget(agent).unwrap();
        assert_eq!(home.state(agent), ConnectionState::Connected);
        home.disconnect(agent);
        assert_eq!(
            home.state(agent),
            ConnectionState::NotConnected,
            "{}",
            agent.id
        );
    }
}
