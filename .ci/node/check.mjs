// Runs after `npm ci`, in whatever Node that leaves to the scripts: plain JavaScript that an old one can read.
const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  process.stderr.write(
    `This project runs with Node 24 or newer; this is ${process.version}. npm ci installs one for Linux (x64, arm64) and ` +
      'Windows (x64), unless optional dependencies are left out. For this machine, install Node 24, then run npm ci again.\n',
  );
  process.exit(1);
}
