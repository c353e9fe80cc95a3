//! A process that makes many runs of a program (`abi::serve`), and what its owner, we, has to do for each.
//!
//! The process stands before the first code of the program. For a run it forks itself; input and output are set back, and the log is a file that both have
//! open. It ends with its owner, and a run that is under way with it: there is a socket between the two of which nobody else has an end.

use super::files::{self, Asked, LogFile, Prepared, Streams};
use super::process::{self, Limits};
use super::{Finished, Input, LaunchError, Options, Output, Stopped, command, not_started, tail};
use abi::plan::{Logging, Plan};
use abi::serve::{ANSWER_BYTES, Answer, END_RUN, Refusal};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;
use subject::Strategy;

/// Why each run of a program needs a process of its own.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unserved {
    /// It is not started by us.
    #[error("another command starts it")]
    Through,
    /// What such a process writes later would get among what other runs write.
    #[error("it starts processes of its own")]
    Processes,
    /// They would be lost.
    #[error("its libraries have started threads before it begins")]
    Threads,
    /// Nothing tells when a run is over and when its owner is gone, at once.
    #[error("the kernel has no pidfd_open (Linux 5.3)")]
    OldKernel,
    /// For some reason.
    #[error("a process that forks itself for each run did not work: {0}")]
    Failed(String),
}

/// Such a process, with its files.
pub struct Server {
    started: Started,
    process: Process,
    prepared: Prepared,
    streams: Streams,
    log: File,
    tail: File,
}

/// The process itself; it ends with this.
struct Process {
    child: Child,
    socket: UnixStream,
    /// How long the socket waits for an answer.
    pause: Option<Duration>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends when it has no owner any more.
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// What cannot be changed once a program is started.
#[derive(PartialEq, Eq)]
struct Started {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    input: Input,
    output: Output,
    most_log_bytes: u64,
}

impl Started {
    fn new(program: &Path, options: &Options) -> Started {
        Started {
            program: program.to_owned(),
            arguments: options.arguments.clone(),
            environment: options.environment.clone(),
            directory: options.directory.clone(),
            input: options.input.clone(),
            output: options.output,
            most_log_bytes: options.most_log_bytes,
        }
    }
}

/// The process has ended, or does not do what it should.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Lost(#[from] io::Error);

impl Server {
    /// Starts a program that makes runs when it is asked to.
    ///
    /// # Errors
    /// If this program cannot be run so, or at all.
    pub fn start(program: &Path, options: &Options) -> Result<Server, Unserved> {
        if !options.through.is_empty() {
            return Err(Unserved::Through);
        }
        let failed = |error: LaunchError| Unserved::Failed(error.to_string());
        let files = |error: io::Error| failed(LaunchError::Files(error));
        let (socket, theirs) = UnixStream::pair().map_err(files)?;
        let number = theirs.as_raw_fd();
        let asked = Asked { strategy: Strategy::RunToBlock, logging: Logging::Schedule, modules: vec![] };
        let plan = Plan { serve: Some(number), ..files::plan(options, asked) };
        let prepared = Prepared::new(plan).map_err(files)?;
        let (mut command, streams) = command(program, options, &prepared).map_err(files)?;
        // SAFETY: the function makes one system call. The number is that of `theirs`, which lives until the process has started.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || {
                // In the new process only: nobody else that is started meanwhile is to have this end of the socket.
                fcntl(BorrowedFd::borrow_raw(number), FcntlArg::F_SETFD(FdFlag::empty()))?;
                Ok(())
            });
        }
        let child = process::start(command).map_err(|failure| failed(not_started(program, failure)))?;
        drop(theirs);
        let mut process = Process { child, socket, pause: None };
        let ready = process.wait_at_most(options.timeout).and_then(|()| process.answer());
        match ready {
            Ok(Answer::Ready) => {}
            Ok(Answer::Refused(Refusal::Threads)) => return Err(Unserved::Threads),
            Ok(Answer::Refused(Refusal::OldKernel)) => return Err(Unserved::OldKernel),
            Ok(_) | Err(_) => {
                // Whatever it is, it does not wait for an owner.
                let _ = process.child.kill();
                let why = ready.err().map_or("it is not ready".to_owned(), |error| error.to_string());
                return Err(Unserved::Failed(why));
            }
        }
        let log = File::options().read(true).write(true).open(&prepared.log).map_err(files)?;
        let tail = File::open(tail::path(&prepared.log)).map_err(files)?;
        Ok(Server { started: Started::new(program, options), process, prepared, streams, log, tail })
    }

    /// Whether a program that is started with these options is this one.
    #[must_use]
    pub fn is_for(&self, program: &Path, options: &Options) -> bool {
        self.started == Started::new(program, options)
    }

    /// Makes a run. Gives the process back, unless its files are needed.
    ///
    /// # Errors
    /// If the process is gone; nothing is known of the run then.
    pub fn run(mut self, options: &Options, asked: Asked) -> Result<(Finished, Option<Server>), Lost> {
        self.log.set_len(0)?;
        self.streams.set_back()?;
        let plan = postcard::to_stdvec(&files::plan(options, asked)).map_err(io::Error::other)?;
        let length = u32::try_from(plan.len()).map_err(io::Error::other)?;
        self.process.socket.write_all(&[&length.to_le_bytes()[..], &plan].concat())?;
        let (status, stopped) = self.wait(options)?;
        let output = self.streams.output();
        let (log, server) = match LogFile::copy(&self.log, &self.tail)? {
            Some(log) => (log, Some(self)),
            None => {
                drop(self.process);
                (self.prepared.into_log()?, None)
            }
        };
        Ok((Finished { status, stopped, output, log }, server))
    }

    /// Waits for the end of a run, and ends it if it takes too much.
    fn wait(&mut self, options: &Options) -> io::Result<(ExitStatus, Option<Stopped>)> {
        let limits = Limits::new(options, &self.streams);
        let mut stopped = None;
        loop {
            self.process.wait_at_most(limits.pause().filter(|_| stopped.is_none()))?;
            match self.process.answer() {
                Ok(Answer::Ended(status)) => return Ok((ExitStatus::from_raw(status), stopped)),
                Ok(Answer::NotForked(error)) => return Err(io::Error::from_raw_os_error(error)),
                Ok(_) => return Err(io::Error::other("an answer that nobody asked for")),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    stopped = limits.exceeded(|| tail::process(&self.tail).map(Pid::from_raw));
                    if stopped.is_some() {
                        self.process.socket.write_all(&END_RUN.to_le_bytes())?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Process {
    /// Answers are waited for at most so long, in whole milliseconds.
    fn wait_at_most(&mut self, pause: Option<Duration>) -> io::Result<()> {
        let whole = |pause: Duration| Duration::from_millis(pause.as_micros().div_ceil(1000).max(1) as u64);
        let pause = pause.map(whole);
        if pause != self.pause {
            self.socket.set_read_timeout(pause)?;
            self.pause = pause;
        }
        Ok(())
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let mut bytes = [0; ANSWER_BYTES];
        self.socket.read_exact(&mut bytes)?;
        Answer::from_bytes(bytes).ok_or_else(|| io::Error::other("an answer that makes no sense"))
    }
}
