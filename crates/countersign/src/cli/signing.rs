//! `--sign`, `--signature` and `--out`: decisions with a signature.

use crate::output::Answer;
use clap::Args;
use countersign_app::Failure;
use countersign_app::project::Project;
use countersign_app::signing::{Sign, signer, to_sign, write_out};
use countersign_core::review::{Actor, Review};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct SignOptions {
    /// Sign the decision with an SSH key: KEY, or the first usual one in ~/.ssh
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["signature", "out"])]
    pub sign: Option<PathBuf>,
    /// A signature that was made before: a file, or `ref` for refs/countersign/decisions/REVIEW
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub signature: Option<PathBuf>,
    /// Decide nothing; write what is to be signed elsewhere to FILE
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What became of a wish for a signature.
pub enum Signed {
    By(Actor),
    /// It is to be signed elsewhere: nothing is decided yet.
    WrittenOut(Answer),
}

impl SignOptions {
    pub fn is_wanted(&self) -> bool {
        self.sign.is_some() || self.signature.is_some() || self.out.is_some()
    }

    /// The person who signs this decision about the review as it is now.
    pub async fn signed(
        &self,
        project: &Project,
        review: &Review,
        action: &str,
        reason: &str,
    ) -> Result<Signed, Failure> {
        let statement = to_sign(review, action, reason)?;
        if let Some(file) = &self.out {
            let answer = write_out(&project.here.join(file), statement)?;
            let text = answer.own.next.iter().map(|step| format!("next: {step}\n")).collect::<String>();
            return Ok(Signed::WrittenOut(Answer::of(answer, text)));
        }
        let sign = match (&self.signature, &self.sign) {
            (Some(typed), _) => Sign::given(typed),
            (None, key) => {
                eprint!("{statement}");
                Sign::Key(key.clone().filter(|key| key != Path::new("")))
            }
        };
        Ok(Signed::By(signer(project, &review.id, statement, &sign).await?))
    }
}
