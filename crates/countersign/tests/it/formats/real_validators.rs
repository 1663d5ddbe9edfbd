//! The formats, held against a schema and a parser of others. `cargo xtask test` installs them.

use super::many;
use super::real_tools::{python, tools};
use std::fs;
use std::process::Command;

const CHECK: &str = "import sys; from check_jsonschema import main; main(sys.argv[1:])";

#[test]
fn issue_20_sarif_fits_its_schema_and_junit_can_be_read() {
    let (project, _judge) = many();
    let (sarif, junit) = (project.home().join("a.sarif"), project.home().join("a.xml"));
    let [sarif_flag, junit_flag] =
        [format!("sarif={}", sarif.display()), format!("junit={}", junit.display())];
    project.run(&["review", "--format", &sarif_flag, "--format", &junit_flag]).exits(1);
    let schema = tools().join("sarif-2.1.0.json");
    let (schema, sarif) = (schema.to_str().unwrap().to_owned(), sarif.to_str().unwrap().to_owned());
    python(CHECK, &["--schemafile", &schema, &sarif]);
    // The schema can fail.
    let text = fs::read_to_string(&sarif).unwrap();
    fs::write(&sarif, text.replace(r#""level":"error""#, r#""level":"fatal""#)).unwrap();
    let wrong = Command::new(tools().join("bin/python"))
        .args(["-c", CHECK, "--schemafile", &schema, &sarif])
        .output()
        .unwrap();
    assert!(!wrong.status.success());
    let read = "import sys, junitparser\nxml = junitparser.JUnitXml.fromfile(sys.argv[1])\n\
                print(xml.tests, xml.failures, xml.errors, sum(1 for suite in xml for case in suite))";
    assert_eq!(python(read, &[junit.to_str().unwrap()]).trim(), "301 201 0 301");
}
