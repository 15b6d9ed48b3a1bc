import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registries } from '../../src/core/url/package-url.ts'
import { closeLater } from '../close-later.ts'

/** Registries of all kinds at one address that answer like the public ones. */
export interface Registry {
  readonly registries: Registries
  /** The index of PyPI that only lists files, as pip uses it. */
  readonly simpleIndex: string
  /** Requested paths in order. */
  readonly requestedPaths: string[]
  /** The Authorization headers in the order of the requests; undefined for a request without one. */
  readonly authorizations: (string | undefined)[]
  publishNpm(name: string, version: string, tarball: Uint8Array, tags?: readonly string[]): void
  publishPypi(name: string, version: string, files: Readonly<Record<string, Uint8Array>>, info?: object): void
  publishCrate(name: string, version: string, crate: Uint8Array, isYanked?: boolean): void
  publishMaven(
    group: string,
    artifact: string,
    version: string,
    jars: Readonly<Record<string, Uint8Array>>,
    pom?: string,
  ): void
  /** Replaces the published files whose paths end with `suffix`. */
  tamper(suffix: string): void
  /** Replaces text in all metadata of packages. */
  reword(from: string, to: string): void
}

/** Opens registries on loopback that close with the test. They refuse requests without `authorization`, if it is given. */
export async function openRegistry(authorization?: string): Promise<Registry> {
  const answers = new Map<
    string,
    { readonly type: string; readonly body: string | Uint8Array } | { readonly to: string }
  >()
  const requestedPaths: string[] = []
  const authorizations: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    requestedPaths.push(path)
    authorizations.push(request.headers.authorization)
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end()
      return
    }
    const answer = request.method === 'GET' ? answers.get(path) : undefined
    if (answer === undefined)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}')
    else if ('to' in answer) response.writeHead(302, { location: answer.to }).end()
    else response.writeHead(200, { 'content-type': answer.type }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeLater(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const serveJson = (path: string, value: unknown) => {
    answers.set(path, { type: 'application/json', body: JSON.stringify(value) })
  }
  const serveFile = (path: string, body: Uint8Array) => answers.set(path, { type: 'application/octet-stream', body })
  serveJson('/index/config.json', { dl: `${origin}/api/v1/crates`, api: origin })
  const packuments = new Map<string, { 'dist-tags': Record<string, string>; versions: Record<string, unknown> }>()
  const crates = new Map<string, string[]>()
  const artifacts = new Map<string, string[]>()
  return {
    registries: {
      npm: `${origin}/npm/`,
      pypi: `${origin}/py`,
      crates: `sparse+${origin}/index/`,
      maven: `${origin}/maven2`,
    },
    simpleIndex: `${origin}/simple/`,
    requestedPaths,
    authorizations,
    publishNpm(name, version, tarball, tags = ['latest']) {
      const path = `/npm/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`
      serveFile(path, tarball)
      const known = packuments.get(name) ?? { 'dist-tags': {}, versions: {} }
      const dist = {
        tarball: origin + path,
        shasum: digestOf('sha1', tarball, 'hex'),
        integrity: `sha512-${digestOf('sha512', tarball, 'base64')}`,
      }
      const packument = {
        'dist-tags': { ...known['dist-tags'], ...Object.fromEntries(tags.map((tag) => [tag, version])) },
        versions: { ...known.versions, [version]: { name, version, dist } },
      }
      packuments.set(name, packument)
      serveJson(`/npm/${name.replace('/', '%2f')}`, { name, modified: '2026-01-01T00:00:00.000Z', ...packument })
    },
    publishPypi(name, version, files, info = {}) {
      const urls = Object.entries(files).map(([filename, bytes]) => {
        const path = `/packages/aa/bb/${filename}`
        serveFile(path, bytes)
        const packagetype = filename.endsWith('.whl') ? 'bdist_wheel' : 'sdist'
        const digests = { md5: digestOf('md5', bytes, 'hex'), sha256: digestOf('sha256', bytes, 'hex') }
        return { filename, packagetype, digests, url: origin + path, size: bytes.length, yanked: false }
      })
      const answer = { info: { ...info, name, version, yanked: false }, last_serial: 1, urls, vulnerabilities: [] }
      serveJson(`/py/pypi/${name}/json`, answer)
      const links = urls.map(
        (file) =>
          `<a href="..${new URL(file.url).pathname.replace('/packages', '/../packages')}#sha256=${file.digests.sha256}">${file.filename}</a><br/>`,
      )
      answers.set(`/simple/${name}/`, {
        type: 'text/html',
        body: `<!DOCTYPE html><html><body>${links.join('\n')}</body></html>`,
      })
      serveJson(`/py/pypi/${name}/${version}/json`, answer)
    },
    publishCrate(name, version, crate, isYanked = false) {
      serveFile(`/static/${name}-${version}.crate`, crate)
      answers.set(`/api/v1/crates/${name}/${version}/download`, { to: `${origin}/static/${name}-${version}.crate` })
      const line = {
        name,
        vers: version,
        deps: [],
        cksum: digestOf('sha256', crate, 'hex'),
        features: {},
        yanked: isYanked,
      }
      const lines = [...(crates.get(name) ?? []), JSON.stringify(line)]
      crates.set(name, lines)
      const path = `/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
      answers.set(path, { type: 'text/plain', body: `${lines.join('\n')}\n` })
    },
    publishMaven(group, artifact, version, jars, pom) {
      const folder = `/maven2/${group.replaceAll('.', '/')}/${artifact}`
      const versions = [...(artifacts.get(folder) ?? []), version]
      artifacts.set(folder, versions)
      const listed = versions.map((one) => `      <version>${one}</version>`).join('\n')
      const body = `<?xml version="1.0" encoding="UTF-8"?>\n<metadata>\n  <groupId>${group}</groupId>\n  <artifactId>${artifact}</artifactId>\n  <versioning>\n    <latest>${version}</latest>\n    <release>${version}</release>\n    <versions>\n${listed}\n    </versions>\n  </versioning>\n</metadata>\n`
      answers.set(`${folder}/maven-metadata.xml`, { type: 'text/xml', body })
      if (pom !== undefined)
        answers.set(`${folder}/${version}/${artifact}-${version}.pom`, { type: 'text/xml', body: pom })
      for (const [classifier, bytes] of Object.entries(jars)) {
        const path = `${folder}/${version}/${artifact}-${version}-${classifier}.jar`
        serveFile(path, bytes)
        answers.set(`${path}.sha1`, { type: 'text/plain', body: digestOf('sha1', bytes, 'hex') })
      }
    },
    tamper(suffix) {
      for (const path of answers.keys()) if (path.endsWith(suffix)) serveFile(path, Buffer.from('something else'))
    },
    reword(from, to) {
      for (const [path, answer] of answers) {
        if ('body' in answer && typeof answer.body === 'string') {
          answers.set(path, { ...answer, body: answer.body.replaceAll(from, to) })
        }
      }
    },
  }
}

function digestOf(algorithm: string, bytes: Uint8Array, form: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(form)
}
