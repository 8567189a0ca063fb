//! Templates, rendered: `$(...)$` here, ytt by its own program.
//!
//! The program gets the template on its standard input and the values in a file, so that neither is
//! bound by what fits on a command line. It may hang or write without end; it is given limits.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use pathline_blueprint::stamp::{Error, Rendered, Stamp};
use pathline_blueprint::template::Body;
use pathline_document::{Document, Format};
use pathline_remote::SECRET_VARIABLES;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// No template needs this long unless it does not end.
const RENDER_TIMEOUT: Duration = Duration::from_secs(10);

/// No cluster takes an object of this size.
const OUTPUT_LIMIT: u64 = 4 * 1024 * 1024;

/// The length of a complaint of the program that fits a condition.
const COMPLAINT_LIMIT: u64 = 32 * 1024;

/// Each run of the program keeps a processor busy.
const CONCURRENCY: usize = 4;

/// Renders templates.
pub struct Renderer {
    program: PathBuf,
    timeout: Duration,
    slots: Semaphore,
}

impl Renderer {
    /// Takes this ytt, or the one on the `PATH`.
    pub fn new(program: Option<PathBuf>) -> Self {
        Self {
            program: program.unwrap_or_else(|| PathBuf::from("ytt")),
            timeout: RENDER_TIMEOUT,
            slots: Semaphore::new(CONCURRENCY),
        }
    }

    /// Renders the object of a stamp, ready to be written.
    pub async fn render(&self, stamp: &Stamp<'_>) -> Result<Rendered, Error> {
        match &stamp.template.body {
            Body::Ytt(template) => {
                let values = stamp.plain_context();
                let rendered = self.run(template, &values).await.map_err(Error::Ytt)?;
                stamp.render_from(rendered)
            }
            Body::Interpolated(_) | Body::Undecided => stamp.render(),
        }
    }

    /// Runs the program. An error is what to tell the user.
    async fn run(&self, template: &str, values: &Value) -> Result<Value, String> {
        let _slot = self
            .slots
            .acquire()
            .await
            .map_err(|error| error.to_string())?;
        let values = values_file(values).map_err(|error| {
            format!("the values cannot be written to a temporary file: {error}")
        })?;
        let group = self.start(&values)?;
        let running = talk(group, template);
        let Ok(answer) = tokio::time::timeout(self.timeout, running).await else {
            let seconds = self.timeout.as_secs_f64();
            return Err(format!("it did not end within {seconds} s and was stopped"));
        };
        let answer = answer.map_err(|error| format!("the program ytt failed: {error}"))?;
        if answer.output.len() as u64 > OUTPUT_LIMIT {
            return Err(format!(
                "it wrote more than {OUTPUT_LIMIT} bytes and was stopped"
            ));
        }
        if answer.status.success() {
            return read_object(&answer.output);
        }
        let complaint = String::from_utf8_lossy(&answer.complaint).into_owned();
        Err(if complaint.is_empty() {
            answer.status.to_string()
        } else {
            complaint
        })
    }

    fn start(&self, values: &NamedTempFile) -> Result<Group, String> {
        let mut command = Command::new(&self.program);
        for name in SECRET_VARIABLES {
            command.env_remove(name);
        }
        let started = command
            .arg("-f")
            .arg("-")
            .arg("--data-values-file")
            .arg(values.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let program = self.program.display();
        match started {
            Ok(child) => Ok(Group { child }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
                "the program {program} was not found; install ytt (https://carvel.dev/ytt), or say \
                 where it is by --ytt"
            )),
            Err(error) => Err(format!("the program {program} cannot be started: {error}")),
        }
    }
}

/// A program with all it may have started. Dropping it kills the whole group.
struct Group {
    child: Child,
}

impl Drop for Group {
    fn drop(&mut self) {
        // The id is there as long as the leader is not reaped, so it is still ours.
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

struct Answer {
    status: ExitStatus,
    output: Vec<u8>,
    complaint: Vec<u8>,
}

/// Gives the template to the program and takes what it says, up to the limits.
async fn talk(mut group: Group, template: &str) -> io::Result<Answer> {
    let child = &mut group.child;
    let (input, output, complaint) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let give = async {
        if let Some(mut input) = input {
            // One that has seen enough may close its input; its answer says why.
            let _ = input.write_all(template.as_bytes()).await;
        }
    };
    let ((), output, complaint) = tokio::join!(
        give,
        // One byte more than allowed tells that it was too much.
        take(output, OUTPUT_LIMIT + 1),
        take(complaint, COMPLAINT_LIMIT)
    );
    let (output, complaint) = (output?, complaint?);
    Ok(Answer {
        status: child.wait().await?,
        output,
        complaint,
    })
}

async fn take(from: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Vec<u8>> {
    let mut taken = Vec::new();
    if let Some(from) = from {
        from.take(limit).read_to_end(&mut taken).await?;
    }
    Ok(taken)
}

fn values_file(values: &Value) -> io::Result<NamedTempFile> {
    // The program tells by the ending how to read it. Only we may: values can be secrets.
    let mut file = tempfile::Builder::new().suffix(".json").tempfile()?;
    serde_json::to_writer(&mut file, values)?;
    file.flush()?;
    Ok(file)
}

fn read_object(output: &[u8]) -> Result<Value, String> {
    let text = String::from_utf8_lossy(output);
    let documents = Format::Yaml
        .read(&text)
        .map_err(|error| format!("what it rendered is not YAML: {error}"))?;
    let mut objects: Vec<Value> = documents
        .iter()
        .map(Document::to_json)
        .filter(|value| !value.is_null())
        .collect();
    match (objects.pop(), objects.len()) {
        (Some(object), 0) => Ok(object),
        (None, _) => Err("it rendered nothing; a template makes one object".to_owned()),
        (Some(_), others) => Err(format!(
            "it rendered {} objects; a template makes one",
            others + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A renderer that is patient, for busy machines.
    fn renderer() -> Option<Renderer> {
        let program = pathline_testkit::go_tool("ytt templates", "ytt")?;
        Some(Renderer {
            timeout: Duration::from_secs(300),
            ..Renderer::new(Some(program))
        })
    }

    #[tokio::test]
    async fn values_reach_the_template_with_their_types() {
        let Some(renderer) = renderer() else { return };
        let template = "#@ load(\"@ytt:data\", \"data\")\n\
                        a: #@ data.values.params.a\n\
                        b: #@ data.values.params.list[1]\n\
                        c: #@ data.values.deployment\n\
                        yes: \"no\"\n";
        let values = json!({"params": {"a": 5, "list": ["x", "on"]}, "deployment": null});
        let rendered = renderer.run(template, &values).await;
        // ytt reads YAML 1.1, in which `yes` is a boolean; a key of an object is a text again.
        assert_eq!(
            rendered,
            Ok(json!({"a": 5, "b": "on", "c": null, "true": "no"}))
        );
    }

    #[tokio::test]
    async fn values_may_be_larger_than_a_command_line() {
        let Some(renderer) = renderer() else { return };
        let large = "x".repeat(1024 * 1024);
        let template = "#@ load(\"@ytt:data\", \"data\")\na: #@ len(data.values.config)\n";
        let rendered = renderer.run(template, &json!({"config": large})).await;
        assert_eq!(rendered, Ok(json!({"a": 1024 * 1024})));
    }

    #[tokio::test]
    async fn what_the_program_complains_of_is_told_word_for_word() {
        let Some(renderer) = renderer() else { return };
        let template = "#@ load(\"@ytt:data\", \"data\")\na: #@ data.values.params[\"b\"]\n";
        let failed = renderer.run(template, &json!({"params": {}})).await;
        let expected = "ytt: Error: \n- key \"b\" not in struct\n    in <toplevel>\n      \
                        stdin.yml:2 | a: #@ data.values.params[\"b\"]\n";
        assert_eq!(failed, Err(expected.to_owned()));
    }

    #[tokio::test]
    async fn a_template_that_does_not_end_is_stopped() {
        let Some(renderer) = renderer() else { return };
        let renderer = Renderer {
            timeout: Duration::from_millis(300),
            ..renderer
        };
        let template =
            "#@ def f():\n#@ for i in range(1000000000):\n#@ x = i\n#@ end\n#@ end\na: #@ f()\n";
        let failed = renderer.run(template, &json!({})).await.unwrap_err();
        assert_eq!(failed, "it did not end within 0.3 s and was stopped");
    }

    #[tokio::test]
    async fn a_template_that_renders_without_measure_is_stopped() {
        let Some(renderer) = renderer() else { return };
        let template = "a: #@ \"x\" * 9000000\n";
        let failed = renderer.run(template, &json!({})).await.unwrap_err();
        assert_eq!(failed, "it wrote more than 4194304 bytes and was stopped");
    }

    #[tokio::test]
    async fn one_object_is_one_object() {
        let Some(renderer) = renderer() else { return };
        let render = |template| renderer.run(template, &Value::Null);
        let nothing = render("").await.unwrap_err();
        assert_eq!(nothing, "it rendered nothing; a template makes one object");
        let two = render("a: 1\n---\nb: 2\n").await.unwrap_err();
        assert_eq!(two, "it rendered 2 objects; a template makes one");
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_asked_for() {
        let renderer = Renderer::new(Some(PathBuf::from("/nowhere/ytt")));
        let failed = renderer.run("a: 1", &json!({})).await.unwrap_err();
        assert!(
            failed.starts_with("the program /nowhere/ytt was not found; install ytt"),
            "{failed}"
        );
    }
}
