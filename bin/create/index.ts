#!/usr/bin/env node
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** `npm create mcp-task-server my-tools`: writes a project into a new folder. Asks nothing, installs nothing. */
const [folder = '', ...more] = process.argv.slice(2);
const path = resolve(folder);
const name = basename(path);

/** Names that npm refuses, and device names of Windows, with any ending. */
const RESERVED = /^(node_modules|favicon\.ico|(con|prn|aux|nul|com\d|lpt\d)(\..*)?)$/;

const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  stop(
    `The project needs Node 22.18 or newer, and this is ${node}: install Node 24 (https://nodejs.org), then try again`,
  );
}
if (folder === '' || folder.startsWith('-') || more.length > 0) stop('usage: npm create mcp-task-server <folder>');
if (!/^[a-z0-9]([a-z0-9._-]{0,98}[a-z0-9])?$/.test(name)) {
  stop(
    `${name}: the folder gives the project its name, so use a-z 0-9 - . _ only, at most 100 characters, a letter or digit first and last`,
  );
}
if (RESERVED.test(name)) stop(`${name}: npm or Windows reserves this name, so name the folder differently`);
try {
  write();
} catch (error) {
  stop(`${folder} could not be made: ${(error as Error).message}`);
}

console.log(`${folder} is ready: one tool in tools/count-words.ts, its test beside it. Next:

  cd ${folder}
  npm install
  npm test     # runs the tool without a cloud
  npm start    # serves it at http://127.0.0.1:3000/mcp, without an AWS account

README.md there says how to call it, and how to deploy it.`);

function write(): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isSymbolicLink()) stop(`${folder} is a link: name a new folder`);
  if (there?.isDirectory() === false) stop(`${folder} is a file: name a new folder`);
  mkdirSync(path, { recursive: true });
  if (readdirSync(path).length > 0) stop(`${folder} is not empty: name a new folder`);
  cpSync(join(import.meta.dirname, 'template'), path, { recursive: true });
  // npm leaves a .gitignore out of a package.
  renameSync(join(path, 'gitignore'), join(path, '.gitignore'));
  for (const file of ['package.json', 'README.md']) {
    const text = readFileSync(join(path, file), 'utf8');
    writeFileSync(join(path, file), text.replaceAll('my-tools', name));
  }
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
