import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findComposeFaults } from './compose-schema.ts'
import { findFaults, findUnknownFields, type Manifest, readManifests } from './kubernetes-schema.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { version, devDependencies } = JSON.parse(read('package.json')) as {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}

/** Variables whose values are secret. */
const SECRET = /PASSWORD|TOKEN|SECRET|_KEY$/

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly user: string
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck: { readonly test: readonly string[] }
  readonly stop_grace_period: string
  readonly deploy: { readonly resources: { readonly limits: { readonly cpus: string; readonly memory: string } } }
  readonly profiles?: readonly string[]
}

describe('the Compose file', () => {
  const text = read('deploy/compose.yaml')
  const compose = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> }
  const services = Object.entries(compose.services)

  test('is valid by the schema of the Compose Specification, which refuses unknown fields', () => {
    expect(findComposeFaults(compose)).toEqual([])
    const unknown = { services: { x: { image: 'x', read_onyl: true } } }
    expect(findComposeFaults(unknown)).toEqual(['/services/x must NOT have additional properties (read_onyl)'])
    expect(findComposeFaults({ services: { x: { image: 7 } } })).toEqual(['/services/x/image must be string'])
  })

  test('has server, workers and database, and optionally Qdrant and TEI', () => {
    const profiles = Object.fromEntries(services.map(([name, { profiles: names = [] }]) => [name, names]))
    expect(profiles).toEqual({ server: [], worker: [], database: [], qdrant: ['qdrant'], tei: ['tei'] })
  })

  test.each(services)('%s runs as an unprivileged user, has a read-only file system, and has limits', (_, service) => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(service.read_only).toBe(true)
    expect(service.cap_drop).toEqual(['ALL'])
    expect(service.security_opt).toContain('no-new-privileges:true')
    expect(service.deploy.resources.limits).toMatchObject({ cpus: expect.any(String), memory: expect.any(String) })
    expect(service.healthcheck.test.length).toBeGreaterThan(1)
    expect(service.image).toMatch(/:[\w.-]*\d[\w.-]*$/)
  })

  test.each(services)('%s gets secrets as files', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => SECRET.test(name) && !name.endsWith('_FILE'))).toEqual([])
  })

  test('lets a worker drain before it is killed', () => {
    const worker = compose.services['worker']
    expect(secondsOf(worker?.stop_grace_period)).toBeGreaterThan(drainSecondsOf(worker?.command) + 10)
  })
})

describe('the Kubernetes manifests', () => {
  const manifests = [
    ...readManifests(join(root, 'deploy/kubernetes')),
    ...readManifests(join(root, 'deploy/kubernetes/optional')),
  ]
  const namedManifests = manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const)
  const workloads = namedManifests.filter(([, { kind }]) => kind === 'Deployment' || kind === 'StatefulSet')

  test.each(namedManifests)('%s satisfies the schema of its kind', (_, manifest) => {
    expect(findFaults(manifest)).toEqual([])
  })

  test('have no field that is unknown to Kubernetes', () => {
    expect(findUnknownFields(manifests)).toEqual([])
  })

  test('would be refused with a missing, mistyped or unknown field', () => {
    const [, worker] = namedManifests.find(([name]) => name === 'Deployment worker') ?? []
    if (worker === undefined) throw new Error('there is no worker')
    const { selector: _, ...incomplete } = worker.spec as Readonly<Record<string, unknown>>
    expect(findFaults({ ...worker, spec: incomplete })).toEqual([expect.stringContaining('required property selector')])
    expect(findFaults({ ...worker, spec: { ...incomplete, selector: {}, replicas: 'many' } })).toEqual([
      expect.stringContaining('replicas'),
    ])
    expect(findUnknownFields([{ ...worker, spec: { ...incomplete, selector: {}, replica: 2 } } as Manifest])).toEqual([
      expect.stringContaining('"replica"'),
    ])
  })

  test('hold no secrets, and are all in one restricted namespace', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([])
    const elsewhere = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'pharos')
    expect(elsewhere).toEqual([])
    const [namespace] = manifests.filter(({ kind }) => kind === 'Namespace')
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
  })

  test.each(workloads)('%s runs as a restricted pod, with limits and probes', (_, { spec }) => {
    const pod = podOf(spec)
    expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(pod.spec.securityContext.runAsUser).toBeGreaterThan(0)
    expect(pod.spec.automountServiceAccountToken).toBe(false)
    for (const container of pod.spec.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const amount = { cpu: expect.any(String), memory: expect.any(String) }
      expect(container.resources).toMatchObject({ requests: amount, limits: amount })
      expect(container).toMatchObject({ startupProbe: expect.anything(), livenessProbe: expect.anything() })
      expect(container.image).toMatch(/:[\w.-]*\d[\w.-]*$/)
      const secrets = (container.env ?? []).filter(({ name }) => SECRET.test(name) && !name.endsWith('_FILE'))
      expect(secrets).toEqual([])
    }
  })

  test.each(workloads)('%s is matched by its selector, and by its service if any', (name, { spec, metadata }) => {
    const { labels } = podOf(spec).metadata
    expect(labels).toMatchObject((spec as { selector: { matchLabels: object } }).selector.matchLabels)
    const services = manifests.filter(({ kind }) => kind === 'Service')
    const found = services.filter((service) => service.metadata.name === metadata.name)
    if (name === 'Deployment worker') expect(found).toEqual([])
    else expect(found.map((service) => service.spec)).toEqual([expect.objectContaining({ selector: labels })])
  })

  test('a server whose library is unavailable gets no traffic, and is not restarted for that reason', () => {
    const [, server] = workloads.find(([name]) => name === 'Deployment server') ?? []
    const [container] = podOf(server?.spec).spec.containers
    expect(container?.readinessProbe).toMatchObject({ httpGet: { path: '/ready' } })
    expect(container?.livenessProbe).toMatchObject({ httpGet: { path: '/health' } })
  })

  test('let a worker drain before it is killed', () => {
    const [, worker] = workloads.find(([name]) => name === 'Deployment worker') ?? []
    const { terminationGracePeriodSeconds, containers } = podOf(worker?.spec).spec
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSecondsOf(containers[0]?.args) + 10)
  })
})

describe('the image', () => {
  const dockerfile = read('deploy/Dockerfile')

  test('has the tested versions of the database client and the queue', () => {
    for (const name of ['pg', 'pg-boss'])
      expect(dockerfile).toContain(` dependencies.${name}=${devDependencies[name]} `)
  })

  test('the image keeps its runtime packages when test packages are pruned, and has no second Node', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-image-'))
    try {
      for (const file of ['package.json', 'package-lock.json']) writeFileSync(join(folder, file), read(file))
      const [, steps = ''] = dockerfile.match(/^RUN (npm pkg (?:.*\\\n)*.*npm prune .*)$/m) ?? []
      // In a folder without packages, a dry install lists the packages that pruning would keep.
      const dryRun = steps.replace('npm prune', 'npm install --dry-run --offline --ignore-scripts')
      const { stdout, status } = spawnSync('sh', ['-c', dryRun], { cwd: folder, encoding: 'utf8' })
      expect(status).toBe(0)
      const kept = [...stdout.matchAll(/^add (\S+) /gm)].map(([, name]) => name)
      expect(kept).toEqual(expect.arrayContaining(['pg', 'pg-boss', 'better-sqlite3', 'web-tree-sitter']))
      expect(kept.filter((name) => name === 'vitest' || name?.startsWith('node-linux'))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('has the tag of this version everywhere', () => {
    const names = [...[read('deploy/compose.yaml'), ...workloadTexts()].join('\n').matchAll(/image: (pharos:\S+)/g)]
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set([`pharos:${version}`]))
  })

  test('the image runs as an unprivileged user', () => {
    expect(dockerfile.match(/^USER .*$/gm)).toEqual(['USER 10001:10001'])
  })

  test('copies what the build reads, and only files that exist and that .dockerignore does not exclude', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = '']) => files.split(' '))
    const allowed =
      read('deploy/Dockerfile.dockerignore')
        .match(/^!.*$/gm)
        ?.map((line) => line.slice(1)) ?? []
    expect(copied.filter((file) => !allowed.includes(file))).toEqual([])
    const [, inputs = ''] = /const BUILD_INPUTS = \[([^\]]+)\]/.exec(read('scripts/setup.mjs')) ?? []
    const folders = [...inputs.matchAll(/'(\w+)'/g)].map(([, folder]) => folder)
    expect(folders.length).toBeGreaterThan(2)
    expect(copied).toEqual(expect.arrayContaining(folders))
    const rootFiles = readdirSync(root)
    const missing = allowed.filter((file) => !file.includes('*') && !file.includes('/') && !rootFiles.includes(file))
    expect(missing).toEqual([])
  })
})

test('the entry point of the image passes the database password from its file to the program, without the path of the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-deploy-'))
  try {
    writeFileSync(join(folder, 'password'), 'word\n')
    writeFileSync(
      join(folder, 'node'),
      '#!/bin/sh\nprintf "%s|%s|%s" "$PGPASSWORD" "$(printenv PGPASSWORD_FILE || echo none)" "$*"\n',
      {
        mode: 0o755,
      },
    )
    const start = (env: Readonly<Record<string, string>>) =>
      spawnSync('sh', [join(root, 'deploy/entrypoint.sh'), 'worker', '--json'], {
        encoding: 'utf8',
        env: { PATH: `${folder}:${process.env['PATH']}`, ...env },
      })
    const args = '--max-semi-space-size=4 /app/dist/cli/main.js worker --json'
    expect(start({ PGPASSWORD_FILE: join(folder, 'password') }).stdout).toBe(`word|none|${args}`)
    expect(start({ PGPASSWORD: 'given' }).stdout).toBe(`given|none|${args}`)
    expect(start({ PGPASSWORD_FILE: join(folder, 'missing') }).status).not.toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('server and workers are started with existing options', () => {
  const compose = parse(read('deploy/compose.yaml'), { merge: true }) as { services: Record<string, Service> }
  const used = new Set<string>()
  for (const text of [JSON.stringify(compose.services), ...workloadTexts()]) {
    for (const [, verb = '', rest = ''] of text.matchAll(/\[?"?(serve|worker)"?, ([^\]]*)\]/g)) {
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) used.add(`${verb} ${option}`)
    }
  }
  const helps = { serve: help('serve'), worker: help('worker') }
  const unknown = [...used].filter((one) => {
    const [verb, option] = one.split(' ')
    return !helps[verb as keyof typeof helps].includes(` ${option} `)
  })
  expect(unknown).toEqual([])
  expect(used.size).toBeGreaterThanOrEqual(8)
})

function help(verb: string): string {
  const { stdout } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), verb, '--help'], { encoding: 'utf8' })
  return stdout.replaceAll('\n', ' \n')
}

function workloadTexts(): string[] {
  return ['20-server', '30-worker'].map((name) => read(`deploy/kubernetes/${name}.yaml`))
}

interface Container {
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string }[]
  readonly securityContext: object
  readonly resources: object
  readonly readinessProbe?: object
  readonly livenessProbe?: object
}

interface Pod {
  readonly metadata: { readonly labels: object }
  readonly spec: {
    readonly securityContext: { readonly runAsUser: number }
    readonly automountServiceAccountToken: boolean
    readonly terminationGracePeriodSeconds: number
    readonly containers: readonly Container[]
  }
}

/** The pod of a workload whose schema was checked. */
function podOf(spec: unknown): Pod {
  return (spec as { readonly template: Pod }).template
}

/** Drain time of a worker in seconds, from its arguments. */
function drainSecondsOf(args: readonly string[] = []): number {
  return secondsOf(args[args.indexOf('--drain-time') + 1])
}

/** `90s` → 90 */
function secondsOf(text: string | undefined): number {
  const [, number] = /^(\d+)s$/.exec(text ?? '') ?? []
  if (number === undefined) throw new TypeError(`${text} is not a duration in seconds`)
  return Number(number)
}
