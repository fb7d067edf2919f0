//! A container image with the command line, for continuous integration.

use std::path::Path;

use super::product::Product;
use super::release::Release;
use super::text::write_text;
use crate::archive;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Writes the `Containerfile`.
pub fn write_containerfile(
    folder: &Path,
    product: &Product,
    release: &Release,
) -> Result<(), Failure> {
    let archive = &release.archive_linux;
    let text = format!(
        r#"# {name} {version} on the command line, for jobs of continuous integration.
#
#   podman build --tag {ENGINE_NAME} .
#   podman run --rm --volume "$PWD:/work" {ENGINE_NAME} doctor
#
# A command runs in a sandbox first, and that needs user namespaces within the container, which the rules that container
# runtimes have by default (seccomp, AppArmor, masked paths) forbid. `{ENGINE_NAME} doctor` says what is missing. Without a
# sandbox a command asks, and where nobody is there that means it is denied. Rules that allow them are, for Docker,
# `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`; then the
# container is a weaker wall, so run nothing else in it.
FROM debian:12-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates curl git libdbus-1-3 ripgrep \
 && rm -rf /var/lib/apt/lists/*

RUN curl --fail --location --silent --show-error --output /tmp/{ENGINE_NAME}.tar.gz \
      {url} \
 && echo "{sha256}  /tmp/{ENGINE_NAME}.tar.gz" | sha256sum --check --strict - \
 && tar --extract --file /tmp/{ENGINE_NAME}.tar.gz --directory /opt --no-same-owner \
 && mv /opt/{folder} /opt/{ENGINE_NAME} \
 && ln -s /opt/{ENGINE_NAME}/{ENGINE_NAME} /opt/{ENGINE_NAME}/{ENGINE_NAME}-sandbox /usr/local/bin/ \
 && rm /tmp/{ENGINE_NAME}.tar.gz

# Not root: what an agent does is done by a user who may change the workspace and nothing else.
RUN useradd --create-home --uid 1000 {ENGINE_NAME}
USER {ENGINE_NAME}
ENV COUNTERSIGN_DATA_DIR=/home/{ENGINE_NAME}/data
WORKDIR /work
ENTRYPOINT ["{ENGINE_NAME}"]
CMD ["help"]
"#,
        name = product.name,
        version = product.version,
        url = archive.url,
        sha256 = archive.sha256,
        folder = archive::folder_name(&archive.name),
    );
    write_text(&folder.join("Containerfile"), &text)
}
