//! The files of a run: its plan, its log, and where its input comes from and its output goes to.

use super::{Input, Options, Output, process, tail};
use abi::plan::{Logging, Module, Plan};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io::{Result, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use subject::Strategy;
use tempfile::TempDir;

/// Directories that are in memory.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// Longer logs are not copied.
const MOST_COPIED: u64 = 1 << 24;

/// What one run is to do, but for what [`Options`] say.
#[derive(Clone)]
pub struct Asked {
    /// How choices are made, in the numbers of the log.
    pub strategy: Strategy,
    /// What is kept.
    pub logging: Logging,
    /// The modules of the program.
    pub modules: Vec<Module>,
}

/// The plan of a run, but for its files.
pub fn plan(options: &Options, asked: Asked) -> Plan<Strategy> {
    let Asked { strategy, logging, modules } = asked;
    Plan {
        version: abi::VERSION,
        taken: String::new(),
        log: String::new(),
        strategy,
        logging,
        modules,
        most_bytes: options.most_log_bytes,
        most_events: options.most_events,
        spurious: options.spurious,
        quarantine: options.quarantine,
        inputs: options.inputs.clone(),
        stop_at: None,
        serve: None,
    }
}

/// A plan in its file, and the files that it names. They are removed with this.
pub struct Prepared {
    pub directory: TempDir,
    /// A directory in memory, if the log is there.
    pub shared: Option<TempDir>,
    pub plan: PathBuf,
    pub taken: PathBuf,
    pub log: PathBuf,
}

impl Prepared {
    /// Makes the files of a plan.
    pub fn new(plan: Plan<Strategy>) -> Result<Prepared> {
        let directory = tempfile::Builder::new().prefix("threadbare-").tempdir()?;
        // A log of everything may be large; others are small, and their directory needs not be in memory.
        let shared = match process::has_room(Path::new(SHARED_MEMORY), plan.most_bytes) {
            true => tempfile::Builder::new().prefix("threadbare-").tempdir_in(SHARED_MEMORY).ok(),
            false => None,
        };
        let path = |name: &str| directory.path().join(name);
        let (file, taken) = (path("plan"), path("taken"));
        let log = shared.as_ref().map_or(directory.path(), TempDir::path).join("log");
        File::create(&log)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let plan = Plan { taken: text(&taken), log: text(&log), ..plan };
        let bytes = postcard::to_stdvec(&plan).map_err(std::io::Error::other)?;
        std::fs::write(&file, bytes)?;
        Ok(Prepared { directory, shared, plan: file, taken, log })
    }

    /// The log of a process that has ended.
    pub fn into_log(self) -> Result<LogFile> {
        tail::complete(&self.log)?;
        let file = File::open(&self.log)?;
        // SAFETY: the file is in a directory of our own, and its writer has ended. Processes that it has started and that still run
        // have no plan to write to it.
        #[allow(unsafe_code)]
        let bytes = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(LogFile(Bytes::Mapped { bytes, _directory: self.directory, _shared: self.shared }))
    }
}

/// The log of a program that has run.
pub struct LogFile(Bytes);

enum Bytes {
    /// The file, which is removed with this.
    Mapped {
        bytes: memmap2::Mmap,
        _directory: TempDir,
        _shared: Option<TempDir>,
    },
    Copied(Vec<u8>),
}

impl LogFile {
    /// A copy of a log; `None` if it is too long for that.
    pub fn copy(log: &File, tail: &File) -> Result<Option<LogFile>> {
        let length = log.metadata()?.len();
        if length > MOST_COPIED {
            return Ok(None);
        }
        let mut bytes = read(log, length)?;
        bytes.extend(tail::pending(tail)?);
        Ok(Some(LogFile(Bytes::Copied(bytes))))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped { bytes, .. } => bytes,
            Bytes::Copied(bytes) => bytes,
        }
    }
}

/// The first bytes of a file, wherever somebody else has come to in it.
fn read(file: &File, length: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(std::io::Error::other)?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A file that is connected to a program, which shares with us where it stands in it.
struct Shared {
    file: File,
    flags: OFlag,
}

impl Shared {
    /// Connects a program to a file.
    fn new(file: File) -> Result<(Shared, Stdio)> {
        let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
        let given = Stdio::from(file.try_clone()?);
        Ok((Shared { file, flags }, given))
    }

    /// It is as it was in the beginning, whatever the program did with it.
    fn set_back(&mut self) -> Result<()> {
        fcntl(&self.file, FcntlArg::F_SETFL(self.flags))?;
        self.file.rewind()
    }
}

/// One of a program's two outputs, which is kept.
struct Kept {
    shared: Shared,
    reader: File,
}

impl Kept {
    fn new(path: &Path) -> Result<(Kept, Stdio)> {
        let (shared, given) = Shared::new(File::create(path)?)?;
        Ok((Kept { shared, reader: File::open(path)? }, given))
    }

    fn length(&self) -> Result<u64> {
        Ok(self.reader.metadata()?.len())
    }

    fn read(&self) -> Result<Vec<u8>> {
        read(&self.reader, self.length()?)
    }

    fn set_back(&mut self) -> Result<()> {
        self.shared.file.set_len(0)?;
        self.shared.set_back()
    }
}

/// What a program reads from and writes to.
pub struct Streams {
    input: Option<Shared>,
    /// Standard output and standard error, if they are kept.
    output: Option<[Kept; 2]>,
}

impl Streams {
    /// Connects the program that a command starts. What it writes is kept in a directory.
    pub fn connect(command: &mut Command, options: &Options, directory: &Path) -> Result<Streams> {
        let input = match &options.input {
            Input::Inherited => None,
            Input::Nothing => {
                command.stdin(Stdio::null());
                None
            }
            Input::File(path) => {
                let named = |error: std::io::Error| {
                    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                };
                let (shared, given) = Shared::new(File::open(path).map_err(named)?)?;
                command.stdin(given);
                Some(shared)
            }
        };
        let output = match options.output {
            Output::Inherited => None,
            Output::Discarded => {
                command.stdout(Stdio::null()).stderr(Stdio::null());
                None
            }
            Output::Captured => {
                let (out, to_out) = Kept::new(&directory.join("stdout"))?;
                let (error, to_error) = Kept::new(&directory.join("stderr"))?;
                command.stdout(to_out).stderr(to_error);
                Some([out, error])
            }
        };
        Ok(Streams { input, output })
    }

    /// Whether what is kept has become longer than this.
    pub fn are_longer_than(&self, most: u64) -> bool {
        self.output.iter().flatten().any(|kept| kept.length().is_ok_and(|length| length > most))
    }

    /// Whether something is kept, so that it can become too long.
    pub fn are_kept(&self) -> bool {
        self.output.is_some()
    }

    /// What the program wrote, if it was kept: standard output, standard error.
    pub fn output(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let [out, error] = self.output.as_ref()?;
        Some((out.read().unwrap_or_default(), error.read().unwrap_or_default()))
    }

    /// For another run of the same process: input from its beginning, and nothing written.
    pub fn set_back(&mut self) -> Result<()> {
        self.input.as_mut().map_or(Ok(()), Shared::set_back)?;
        self.output.iter_mut().flatten().try_for_each(Kept::set_back)
    }
}
