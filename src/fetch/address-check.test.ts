import { describe, expect, test } from 'vitest'
import type { AddressRefusal } from '../library/library.ts'
import { createAddressCheck, type HostResolver, systemResolve } from './address-check.ts'
import { parseAllowance } from './addresses.ts'

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34', '2606:2800:220:1::1'],
  'private.test': ['10.0.0.7'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'empty.test': [],
}

const resolve: HostResolver = async (host) => {
  const found = ADDRESSES[host]
  if (found !== undefined) return found
  throw Object.assign(new Error(host), { code: host === 'shaky.test' ? 'EAI_AGAIN' : 'ENOTFOUND' })
}

function check(url: string, allowPrivate: readonly string[] = [], resolver: HostResolver = resolve, timeoutMs = 1000) {
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  return createAddressCheck({ allowance: parsed.allowance, resolve: resolver, timeoutMs })(url)
}

function refused(
  reason: AddressRefusal['reason'],
  detail: string,
  { isTransient = false, rule = null }: Partial<AddressRefusal> = {},
): AddressRefusal {
  return { reason, detail, isTransient, rule }
}

describe('createAddressCheck', () => {
  test.each(['https://public.test/a', 'http://93.184.216.34/', 'http://[2606:2800:220:1::1]:8080/'])(
    'allows %s',
    async (url) => {
      expect(await check(url)).toBeUndefined()
    },
  )

  test.each([
    ['not a url', refused('bad-url', 'not a URL')],
    ['file:///etc/passwd', refused('scheme', 'file: is not fetched')],
    ['raw:<p>', refused('scheme', 'raw: is not fetched')],
    ['http://127.0.0.1/', refused('address-refused', '127.0.0.1 is not a public address', { rule: '127.0.0.1' })],
    ['http://0x7f000001/', refused('address-refused', '127.0.0.1 is not a public address', { rule: '127.0.0.1' })],
    ['http://[::1]/', refused('address-refused', '::1 is not a public address', { rule: '::1' })],
    [
      'http://169.254.169.254/latest',
      refused('address-refused', '169.254.169.254 is not a public address', { rule: '169.254.169.254' }),
    ],
    [
      'http://private.test/',
      refused('address-refused', 'private.test leads to an address that is not public', { rule: 'private.test' }),
    ],
    [
      'http://mixed.test/',
      refused('address-refused', 'mixed.test leads to an address that is not public', { rule: 'mixed.test' }),
    ],
    [
      'http://metadata.google.internal/',
      refused('address-refused', 'metadata.google.internal is the name of a cloud metadata service'),
    ],
    ['http://nowhere.test/', refused('network', 'unknown host nowhere.test')],
    ['http://empty.test/', refused('network', 'empty.test has no address')],
    ['http://shaky.test/', refused('network', 'shaky.test could not be resolved', { isTransient: true })],
  ])('refuses %s', async (url, refusal) => {
    expect(await check(url)).toEqual(refusal)
  })

  test('allows a host that the user allowed, on the given port only', async () => {
    expect(await check('http://private.test/', ['private.test'])).toBeUndefined()
    expect(await check('http://127.0.0.1:8080/', ['127.0.0.1:8080'])).toBeUndefined()
    expect(await check('http://127.0.0.1:8081/', ['127.0.0.1:8080'])).toMatchObject({ reason: 'address-refused' })
    expect(await check('https://127.0.0.1/', ['127.0.0.1:443'])).toBeUndefined()
  })

  test('fails when a name lookup times out', async () => {
    const never: HostResolver = () => new Promise(() => {})
    expect(await check('http://slow.test/', [], never, 5)).toEqual(
      refused('timeout', 'slow.test could not be resolved in time', { isTransient: true }),
    )
  })

  test('resolves localhost with the system resolver', async () => {
    expect(await check('http://localhost/', [], systemResolve)).toMatchObject({ reason: 'address-refused' })
    expect(await check('http://localhost/', ['localhost'], systemResolve)).toBeUndefined()
  })

  test('rethrows an error that is not a resolver error', async () => {
    const parsed = parseAllowance([])
    if (parsed.type === 'problem') throw new Error(parsed.problem)
    const defect = new RangeError('a defect')
    const allowance = {
      ...parsed.allowance,
      isNameAllowed: () => {
        throw defect
      },
    }
    await expect(createAddressCheck({ allowance, resolve, timeoutMs: 5 })('http://public.test/')).rejects.toBe(defect)
  })
})
