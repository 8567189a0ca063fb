//! From "file saved" to "debugger attached", with the very commands of docs/waiting.md.

mod dap;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use pathline_testkit::{Leash, free_port, git, repository_root, skip};
use serde_json::{Value, json};

use self::dap::Session;
use crate::program::{Running, StoppedOnDrop, pathline, stderr, stdout};
use crate::site::get;
use crate::story::objects::text;
use crate::up::UP;

const SUITE: &str = "a debugger attached to what runs";

/// The application; the line of the breakpoint is marked.
const APPLICATION: &str = r#"
import http.server
import os
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        word = "hello"
        self.send_response(200)  # breakpoint
        self.end_headers()
        self.wfile.write(word.encode())


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

const OBJECTS: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: hello-source}
spec:
  urlPath: .status.artifact.url
  revisionPath: .status.artifact.revision
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: GitRepository
    metadata: {name: hello}
    spec:
      interval: 500ms
      url: $(workload.spec.source.git.url)$
      ref: $(workload.spec.source.git.ref)$
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: hello-run}
spec:
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: hello}
    spec:
      source: {url: $(source.url)$, revision: $(source.revision)$}
      command: [python3, <debugger>app.py, '<port>']
      readiness: {httpGet: {port: <port>}}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: hello}
spec:
  selector: {path: hello}
  resources:
    - name: source
      templateRef: {kind: ClusterSourceTemplate, name: hello-source}
    - name: run
      templateRef: {kind: ClusterTemplate, name: hello-run}
      sources: [{name: source, resource: source}]
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: hello, namespace: default, labels: {path: hello}}
spec: {source: {git: {url: 'file://<app>', ref: {branch: main}}}}
";

/// The commands and files that the documentation shows, with a port that is free.
struct Documented {
    way: Way,
    shell: String,
    tasks: Value,
    launch: Value,
    port: u16,
}

/// The ways that the documentation shows to get a debugger into the application.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// The debugger is put into the process while that runs, with gdb.
    Injected,
    /// The template starts the application with the debugger.
    Started,
}

impl Way {
    /// Returns the way that this machine allows: there are processors of whose registers an older gdb
    /// cannot write all, and then it calls nothing in any process.
    fn on_this_machine() -> Result<Self> {
        let mut process = Command::new("sleep").arg("600").spawn()?;
        let pid = process.id().to_string();
        let call = ["--nx", "--batch", "--eval-command=call (int)getpid()"];
        let called = Command::new("gdb")
            .args(call)
            .args(["--pid", &pid])
            .output();
        process.kill()?;
        process.wait()?;
        let called = stdout(&called?).contains(&format!("$1 = {pid}"));
        Ok(if called {
            Self::Injected
        } else {
            Self::Started
        })
    }
}

impl Documented {
    fn read() -> Result<Self> {
        Self::of_way(Way::Injected)
    }

    fn of_way(way: Way) -> Result<Self> {
        let docs = fs::read_to_string(repository_root().join("docs/waiting.md"))?;
        let (_, docs) = docs
            .split_once("## What to attach to")
            .context("a section")?;
        let port = free_port();
        let docs = docs.replace("5678", &port.to_string());
        let block = |heading: &str, language: &str| {
            let (_, rest) = docs.split_once(heading).context("a heading")?;
            let (_, rest) = rest
                .split_once(&format!("```{language}\n"))
                .context("a block")?;
            let (block, _) = rest.split_once("```").context("an end")?;
            anyhow::Ok(block.to_owned())
        };
        Ok(Self {
            way,
            shell: block("### In a shell", "sh")?,
            tasks: serde_json::from_str(&block("`.vscode/tasks.json`:", "json")?)?,
            launch: serde_json::from_str(&block("`.vscode/launch.json`:", "json")?)?,
            port,
        })
    }

    /// Returns the commands from "file saved" to "debugger attached": a debugger that the template
    /// starts needs no second one.
    fn commands(&self) -> &str {
        let first = self.shell.lines().next().unwrap_or_default();
        match self.way {
            Way::Injected => &self.shell,
            Way::Started => first,
        }
    }

    /// Returns the arguments of Python before the application in the template.
    fn debugger(&self) -> String {
        match self.way {
            Way::Injected => String::new(),
            Way::Started => format!("-m, debugpy, --listen, '127.0.0.1:{}', ", self.port),
        }
    }

    /// Returns what an editor asks the debugger for, in this workspace.
    fn attach_arguments(&self, workspace: &Path) -> Result<Value> {
        let configuration = self.launch["configurations"][0].to_string();
        let configuration = configuration.replace("${workspaceFolder}", &text(workspace));
        Ok(serde_json::from_str(&configuration)?)
    }
}

/// `pathline up` with a Python that has debugpy first on its path, and the application.
struct Laptop {
    _up: StoppedOnDrop,
    data_dir: PathBuf,
    app: PathBuf,
    path: String,
}

impl Laptop {
    fn start(python: &Path, debugger: &str) -> Result<Self> {
        let leash = Leash::new("pathline-debugger-")?;
        let home = leash.directory().canonicalize()?;
        let app = home.join("app");
        fs::create_dir(&app)?;
        git(&app, &["init", "-q", "-b", "main"]);
        fs::write(app.join("app.py"), APPLICATION)?;
        git(&app, &["add", "app.py"]);
        git(&app, &["commit", "-q", "-m", "Say hello"]);
        let objects = OBJECTS.replace("<port>", &free_port().to_string());
        let objects = objects.replace("<debugger>", debugger);
        let objects = objects.replace("<app>", &text(&app));
        fs::write(home.join("objects.yaml"), objects)?;

        let binary = Path::new(env!("CARGO_BIN_EXE_pathline"));
        let programs = [python.parent(), binary.parent()].map(|it| it.map(text));
        let [python, binary] = programs.map(Option::unwrap_or_default);
        #[expect(
            clippy::disallowed_methods,
            reason = "a shell looks for programs where the test does"
        )]
        let path = format!("{python}:{binary}:{}", std::env::var("PATH")?);
        let mut command = pathline();
        command.args(UP).env("PATH", &path);
        let mut up = Running::spawn(leash, command);
        up.json();
        Ok(Self {
            _up: StoppedOnDrop::new(up),
            data_dir: home.join(".pathline"),
            app,
            path,
        })
    }

    /// Runs commands as somebody would in the directory of the application.
    fn shell(&self, commands: &str) -> Result<String> {
        let mut command = Command::new("sh");
        command.args(["-ec", commands]).current_dir(&self.app);
        command.env("PATH", &self.path);
        command.env("PATHLINE_DATA_DIR", &self.data_dir);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "It");
            command.env(format!("GIT_{who}_EMAIL"), "it@localhost");
        }
        let output = command.output()?;
        ensure!(output.status.success(), "{}", stderr(&output));
        Ok(stdout(&output).trim().to_owned())
    }
}

#[test]
fn commands_of_the_documentation_attach_a_debugger_to_the_new_commit() -> Result<()> {
    let python = match requirements() {
        Ok(python) => python,
        Err(why) => {
            skip(SUITE, why);
            return Ok(());
        }
    };
    let documented = Documented::of_way(Way::on_this_machine()?)?;
    let laptop = Laptop::start(&python, &documented.debugger())?;
    laptop.shell("pathline apply -f ../objects.yaml")?;
    laptop.shell("pathline wait workload/hello --for source=$(git rev-parse HEAD) --live")?;
    let before = laptop.shell("pathline wait workload/hello --live -o json")?;
    let before: Value = serde_json::from_str(&before)?;

    let saved = APPLICATION.replace("\"hello\"", "\"hello again\"");
    fs::write(laptop.app.join("app.py"), saved)?;
    laptop.shell(documented.commands())?;

    let running = fs::read_to_string(laptop.app.join("running.json"))?;
    let running = serde_json::from_str::<Value>(&running)?["running"][0].take();
    assert_ne!(running["pid"], before["running"][0]["pid"]);
    let commit = git(&laptop.app, &["rev-parse", "HEAD"]);
    let seen = inspect_patiently(&documented, &laptop, &running)?;
    assert_eq!(seen.word, "'hello again'");
    assert_eq!(seen.pid, running["pid"].to_string());
    assert!(seen.revision.contains(&commit), "{}", seen.revision);
    assert!(seen.page.ends_with("hello again"), "{}", seen.page);
    Ok(())
}

/// The values that a debugger shows at the breakpoint.
struct Inspected {
    word: String,
    pid: String,
    revision: String,
    page: String,
}

/// Attaches, and once more if the debugger does not hold: on a loaded machine it may give up before it
/// has got into the process, and has to be started again.
fn inspect_patiently(
    documented: &Documented,
    laptop: &Laptop,
    running: &Value,
) -> Result<Inspected> {
    const RETRIES: usize = 3;
    for _ in 0..RETRIES {
        match inspect(documented, &laptop.app, running) {
            Ok(seen) => return Ok(seen),
            Err(error) => eprintln!("attaching again: {error:#}"),
        }
        if documented.way == Way::Injected {
            let attach = documented.shell.lines().last().context("a command")?;
            if let Err(error) = laptop.shell(attach) {
                eprintln!("{attach}: {error:#}");
            }
        }
    }
    inspect(documented, &laptop.app, running)
}

/// Attaches as an editor does, stops at a breakpoint, looks around and lets go.
fn inspect(documented: &Documented, app: &Path, running: &Value) -> Result<Inspected> {
    let mut session = Session::connect(&format!("127.0.0.1:{}", documented.port))?;
    let client = json!({"adapterID": "debugpy", "pathFormat": "path", "linesStartAt1": true});
    session.ask("initialize", &client)?;
    let attaching = session.send("attach", &documented.attach_arguments(app)?)?;
    session.event("initialized")?;
    let line = 1 + APPLICATION
        .lines()
        .position(|line| line.contains("# breakpoint"))
        .context("a line")?;
    let file = text(&app.join("app.py"));
    let set = session.ask(
        "setBreakpoints",
        &json!({"source": {"path": file}, "breakpoints": [{"line": line}]}),
    )?;
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set:#}");
    session.ask("configurationDone", &json!({}))?;
    session.answer(attaching)?;

    let address = running["address"]
        .as_str()
        .context("an address")?
        .to_owned();
    let page = thread::spawn(move || get(&address, "/"));
    let stopped = session.event("stopped")?;
    assert_eq!(stopped["reason"], "breakpoint", "{stopped:#}");
    let thread = json!({"threadId": stopped["threadId"]});
    let stack = session.ask("stackTrace", &thread)?;
    let frame = &stack["stackFrames"][0];
    assert_eq!(frame["source"]["path"], file.as_str(), "{frame:#}");
    let mut look = |expression: &str| {
        let question = json!({"expression": expression, "frameId": frame["id"]});
        let answer = session.ask("evaluate", &question)?;
        anyhow::Ok(answer["result"].as_str().unwrap_or_default().to_owned())
    };
    let word = look("word")?;
    let pid = look("os.getpid()")?;
    let revision = look("os.environ['PATHLINE_SOURCE_REVISION']")?;
    session.ask(
        "setBreakpoints",
        &json!({"source": {"path": file}, "breakpoints": []}),
    )?;
    session.ask("continue", &thread)?;
    session.ask("disconnect", &json!({}))?;
    Ok(Inspected {
        word,
        pid,
        revision,
        page: page.join().expect("the page comes"),
    })
}

#[test]
fn tasks_of_the_editor_are_the_commands_of_the_shell() -> Result<()> {
    let Documented {
        way: _,
        shell,
        tasks,
        launch,
        port,
    } = Documented::read()?;
    let tasks = tasks["tasks"].as_array().context("tasks")?;
    let commands: Vec<_> = tasks.iter().map(|it| &it["command"]).collect();
    assert_eq!(commands, shell.lines().collect::<Vec<_>>());
    assert_eq!(tasks[1]["dependsOn"], tasks[0]["label"]);
    let attach = &launch["configurations"][0];
    assert_eq!(attach["preLaunchTask"], tasks[1]["label"]);
    assert_eq!(attach["connect"]["port"], port);
    Ok(())
}

/// Returns a Python that has debugpy, or why no debugger can be attached here.
fn requirements() -> Result<PathBuf, &'static str> {
    let output = Command::new(repository_root().join("scripts/debugpy"))
        .arg("--no-build")
        .output()
        .map_err(|_| "scripts/debugpy does not run")?;
    if !output.status.success() {
        return Err("no debugpy; run scripts/debugpy");
    }
    for (program, why) in [("gdb", "no gdb"), ("jq", "no jq")] {
        if Command::new(program).arg("--version").output().is_err() {
            return Err(why);
        }
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let is_restricted = !matches!(scope.trim(), "" | "0");
    if is_restricted && !rustix::process::geteuid().is_root() {
        return Err("processes may not be looked into (kernel.yama.ptrace_scope)");
    }
    Ok(PathBuf::from(stdout(&output).trim()))
}
