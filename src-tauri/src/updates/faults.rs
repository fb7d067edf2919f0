//! Why a step to a newer version failed, in words.

use std::io::ErrorKind;

use protocol::UserError;
use protocol::update::UpdateWay;
use tauri_plugin_updater::Error;

const TRY_AGAIN: &str = "Look at your network, then try again.";
const NOTHING_CHANGED: &str =
    "Nothing was changed. Try again later; if it stays so, tell those who publish the app.";

pub(super) fn other_way(way: UpdateWay) -> UserError {
    match way {
        UpdateWay::PackageManager => UserError::new(
            "This copy of the app was installed by a package manager.",
            "Update it there, with your other packages.",
        ),
        UpdateWay::Sources => UserError::new(
            "This copy of the app was built from its sources.",
            "Get the newer sources, and build it anew.",
        ),
        UpdateWay::NoKey | UpdateWay::App => UserError::new(
            "This build of the app knows no key to check a new version with.",
            "Install a new version by hand.",
        ),
    }
}

pub(super) fn other_step() -> UserError {
    UserError::new(
        "A step to a newer version is being taken already.",
        "Wait until it is done.",
    )
}

pub(super) fn nothing_found() -> UserError {
    UserError::new("No newer version is known.", "Check for one first.")
}

pub(super) fn nothing_staged() -> UserError {
    UserError::new("No newer version is downloaded.", "Download it first.")
}

pub(super) fn too_large(bytes_max: u64) -> UserError {
    UserError::new(
        format!(
            "The download is larger than {} MiB, which no version of the app is.",
            bytes_max / (1024 * 1024)
        ),
        NOTHING_CHANGED,
    )
}

/// Says why it is not known whether there is a newer version.
pub(super) fn describe_check(error: &Error) -> UserError {
    let fault = match error {
        Error::Reqwest(cause) if cause.is_timeout() => UserError::new(
            "The server with the releases did not answer in time.",
            TRY_AGAIN,
        ),
        Error::Reqwest(cause) if cause.is_connect() => {
            UserError::new("The server with the releases cannot be reached.", TRY_AGAIN)
        }
        Error::ReleaseNotFound => UserError::new(
            "The server with the releases tells of none.",
            "Try again later.",
        ),
        Error::Reqwest(_) | Error::Serialization(_) | Error::Semver(_) => UserError::new(
            "The server with the releases answers what is no release.",
            "A network that asks you to sign in does so: open a page in your browser, then try again.",
        ),
        Error::TargetNotFound(_) | Error::TargetsNotFound(_) => UserError::new(
            "The newest release has nothing for this system.",
            "Look at the page of the releases, and install it by hand.",
        ),
        _ => UserError::new(
            "Whether there is a newer version could not be found out.",
            "Try again later.",
        ),
    };
    fault.with_source(error)
}

/// Says why a download cannot be used.
pub(super) fn describe_download(error: &Error) -> UserError {
    let fault = match error {
        Error::Minisign(_) | Error::Base64(_) | Error::SignatureUtf8(_) => UserError::new(
            "The download is not signed with the key of this app, so it is not installed.",
            NOTHING_CHANGED,
        ),
        Error::SignedVersionMismatch { signed, announced } => UserError::new(
            format!(
                "The download is signed as version {signed} and offered as {announced}, so it is not installed."
            ),
            NOTHING_CHANGED,
        ),
        Error::MissingSignedVersion => UserError::new(
            "The signature of the download names no version, so it is not installed.",
            NOTHING_CHANGED,
        ),
        Error::Reqwest(cause) if cause.is_timeout() => {
            UserError::new("The download stands still.", TRY_AGAIN)
        }
        Error::Reqwest(_) => UserError::new("The download was interrupted.", TRY_AGAIN),
        Error::Network(_) => UserError::new(
            "The server does not have the file of the newer version.",
            "Check again later.",
        ),
        _ => UserError::new("The newer version could not be downloaded.", TRY_AGAIN),
    };
    fault.with_source(error)
}

/// Says why the app was not replaced.
pub(super) fn describe_install(error: &Error) -> UserError {
    let kind = match error {
        Error::Io(cause) => Some(cause.kind()),
        Error::PreviousAppNotRestored(app) => {
            return UserError::new(
                "The newer version could not be installed, and the present one is at another place.",
                format!("It lies at {}: put it back from there.", app.display()),
            )
            .with_source(error);
        }
        _ => None,
    };
    let fault = match kind {
        Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => UserError::new(
            "There is no room for the newer version on the disk.",
            "Make room, then install it.",
        ),
        Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => UserError::new(
            "The file of the app may not be replaced by you.",
            "Put it into a folder of yours, start it there, and update it then.",
        ),
        Some(ErrorKind::NotFound) => UserError::new(
            "The file of the app is not where it was started from.",
            "Put it back, or start it from where it is now.",
        ),
        _ => UserError::new(
            "The newer version could not be installed.",
            "Install it by hand.",
        ),
    };
    fault.with_source(error)
}
