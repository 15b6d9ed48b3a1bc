// Writes what registries and agents read about this package, from package.json: the entry for the MCP registry, the plugin for Claude Code
// and the part of the README that installs the server. scripts/make-bundle.mjs uses the same facts.
//
// Until package.json names a repository, the package counts as unpublished and nothing written here lets npm fetch it: whoever registers
// its name first could run code on the machines of its users.
//
//   node scripts/manifests.mjs            writes the files
//   node scripts/manifests.mjs --check    exits with 1 when a file is out of date
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { AGENTS, SERVER_NAME } from '../src/setup/agents.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The version of the format of server.json, which is part of the address of its schema. */
const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The version of the format of a bundle's manifest (MANIFEST.md of Anthropic's mcpb). */
const BUNDLE_MANIFEST_VERSION = '0.3'

const TITLE = 'Pharos'

/** package.json: the only place that has the name, the version, the description and the repository of the package. */
export function readPackage() {
  return JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
}

/** `manifest.json` of a bundle: how a desktop application starts the server. */
export function describeBundle(manifest) {
  const { name, version, description, author, license, keywords, engines, bin } = manifest
  const entryPoint = Object.values(bin)[0]
  const url = findRepository(manifest)
  return {
    manifest_version: BUNDLE_MANIFEST_VERSION,
    name,
    display_name: TITLE,
    version,
    description,
    author: { name: author },
    ...(url && { repository: { type: 'git', url } }),
    server: {
      type: 'node',
      entry_point: entryPoint,
      // The application that installs the bundle replaces the variable.
      mcp_config: { command: 'node', args: [`\${__dirname}/${entryPoint}`, 'mcp'] },
    },
    tools_generated: true,
    keywords,
    license,
    compatibility: { runtimes: { node: engines.node } },
  }
}

/** `server.json` for the MCP registry. The registry compares its name with `mcpName` in the published package.json. */
function describeServer(manifest) {
  const { name, mcpName, version, description } = manifest
  const url = findRepository(manifest)
  const [, source] = /^https:\/\/(github|gitlab)\.com\//.exec(url ?? '') ?? []
  return {
    $schema: SERVER_SCHEMA,
    name: mcpName,
    title: TITLE,
    description,
    version,
    ...(source && { repository: { url, source } }),
    ...(isPublished(manifest) && {
      packages: [
        {
          registryType: 'npm',
          identifier: name,
          version,
          runtimeHint: 'npx',
          transport: { type: 'stdio' },
          packageArguments: [{ type: 'positional', value: 'mcp' }],
        },
      ],
    }),
  }
}

/** `.claude-plugin/plugin.json` */
function describePlugin(manifest) {
  const { version, description, author, license, keywords } = manifest
  const repository = findRepository(manifest)
  return {
    name: SERVER_NAME,
    version,
    description,
    author: { name: author },
    ...(repository && { repository }),
    license,
    keywords,
  }
}

/** The address of the repository as a browser opens it; undefined as long as package.json names none. */
function findRepository({ repository }) {
  return repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Whether the package is published under a name that is ours. */
function isPublished(manifest) {
  return findRepository(manifest) !== undefined
}

/** The command that starts this version of the published package on every machine that has Node, without an installation. */
function startPackage({ name, version }) {
  return { command: 'npx', args: ['-y', `${name}@${version}`, 'mcp'] }
}

/** The entry of a server in the configuration of an agent. */
function writeEntry(server, agentId) {
  return AGENTS.find(({ id }) => id === agentId).writeEntry(server)
}

/**
 * Links that add the server to an agent. Code hosts remove links of other schemes, so both lead to a web page of the agent's maker, which
 * opens `cursor://anysphere.cursor-deeplink/mcp/install` or `vscode:mcp/install`.
 */
function createInstallLinks(manifest) {
  const cursor = Buffer.from(JSON.stringify(writeEntry(startPackage(manifest), 'cursor'))).toString('base64')
  const code = JSON.stringify(writeEntry(startPackage(manifest), 'vscode'))
  return {
    Cursor: `https://cursor.com/en/install-mcp?name=${SERVER_NAME}&config=${encodeURIComponent(cursor)}`,
    'VS Code': `https://vscode.dev/redirect/mcp/install?name=${SERVER_NAME}&config=${encodeURIComponent(code)}`,
  }
}

/** The README with the part between its marks, which is empty until the package is published. */
function updateReadme(text, manifest) {
  const [start, end] = ['<!-- install -->\n', '<!-- /install -->\n']
  const [before, rest] = [text.slice(0, text.indexOf(start)), text.slice(text.indexOf(end))]
  if (!text.includes(start) || before.length > text.indexOf(end)) {
    throw new Error(`README.md has no ${start.trim()} before ${end.trim()}`)
  }
  return `${before}${start}${isPublished(manifest) ? writeInstallation(manifest) : ''}${rest}`
}

function writeInstallation(manifest) {
  const { command, args } = startPackage(manifest)
  const links = Object.entries(createInstallLinks(manifest)).map(([title, url]) => `[${title}](${url})`)
  const started = `\`${[command, ...args].join(' ')}\` starts the same server without a clone`
  return `\n${started}, with Node ${manifest.engines.node.replace('>=', '')} or later. One click adds it to ${links.join(' or ')}.\n\n`
}

/** Path → text of every file. */
function writeFiles(manifest) {
  const json = (value) => `${JSON.stringify(value, null, 2)}\n`
  const readme = fs.readFileSync(join(root, 'README.md'), 'utf8')
  const server = isPublished(manifest) ? startPackage(manifest) : { command: SERVER_NAME, args: ['mcp'] }
  return {
    'server.json': json(describeServer(manifest)),
    'plugin/.claude-plugin/plugin.json': json(describePlugin(manifest)),
    'plugin/.mcp.json': json({ mcpServers: { [SERVER_NAME]: writeEntry(server, 'claude-code') } }),
    'README.md': updateReadme(readme, manifest),
  }
}

/** Whether a file has this content. The formatter may have changed the white space of JSON. */
function isCurrent(file, text) {
  if (!fs.existsSync(file)) return false
  const present = fs.readFileSync(file, 'utf8')
  return file.endsWith('.json') ? isDeepStrictEqual(JSON.parse(present), JSON.parse(text)) : present === text
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(writeFiles(readPackage()))) {
    const file = join(root, name)
    if (isCurrent(file, text)) continue
    if (!process.argv.includes('--check')) fs.writeFileSync(file, text)
    else {
      console.error(`${name} is out of date: run node scripts/manifests.mjs`)
      process.exitCode = 1
    }
  }
}
