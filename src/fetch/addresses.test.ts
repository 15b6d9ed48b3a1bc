import { describe, expect, test } from 'vitest'
import { ALL_PRIVATE, type Allowance, isPublicAddress, PUBLIC_ONLY, parseAllowance } from './addresses.ts'

describe('isPublicAddress', () => {
  const publicAddresses = [
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700::1111',
    '2a00:1450:4001:80b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ]

  test.each(publicAddresses)('classifies %s as public', (ip) => {
    expect(isPublicAddress(ip)).toBe(true)
  })

  const nonPublicAddresses = {
    'this network': ['0.0.0.0', '0.1.2.3', '::'],
    loopback: ['127.0.0.1', '127.255.255.254', '::1'],
    'private use': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    'carrier NAT': ['100.64.0.1', '100.127.255.255'],
    'link-local': ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
    'unique local and site-local': ['fc00::1', 'fdff::1', 'fec0::1'],
    multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
    broadcast: ['255.255.255.255'],
    documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
    reserved: ['192.0.0.8', '240.0.0.1', '100::1', '5f00::1'],
    'not assigned': ['4000::1', '8000::1', 'e000::1'],
    mapped: ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0:127.0.0.1', '::127.0.0.1'],
    compatible: ['::8.8.8.8', '::10.0.0.1', '::a9fe:a9fe'],
    NAT64: ['64:ff9b::10.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::8.8.8.8', '64:ff9b:1:ffff::7f00:1'],
    '6to4 and Teredo': ['2002:7f00:1::1', '2002:808:808::1', '2001::1', '2001:0:7f00:1::', '192.88.99.1'],
    ISATAP: [
      'fe80::5efe:127.0.0.1',
      '2001:470:1:2:0:5efe:7f00:1',
      '2001:470:1:2:200:5efe:7f00:1',
      '2001:470:1:2:0:5efe:808:808',
    ],
    metadata: [
      '169.254.169.254',
      '168.63.129.16',
      '100.100.100.200',
      '192.0.0.192',
      'fd00:ec2::254',
      '64:ff9b::a9fe:a9fe',
      '169.254.170.2',
      '169.254.0.23',
      '169.254.42.42',
      'fd00:42::42',
      'fd00:a9fe:a9fe::1',
      'fe80::a9fe:a9fe',
    ],
    'not an address': ['', 'localhost', '1.2.3', '0x7f000001', '127.1', '8.8.8.8.', '[::1]', '8.8.8.8/8'],
  }

  test.each(Object.entries(nonPublicAddresses))('classifies this kind of address as not public: %s', (_what, ips) => {
    expect(ips.filter(isPublicAddress)).toEqual([])
  })
})

describe('URL parsing', () => {
  const forms = {
    '127.0.0.1': [
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0x7f.0x0.0x0.0x1',
      '017700000001',
      '0177.0.0.1',
      '0177.0x0.1',
      '127.0.0.1.',
      '%31%32%37.0.0.1',
      '127%2E0%2E0%2E1',
      '１２７.０.０.１',
      '１２７。０。０。１',
      '127｡0｡0｡1',
      '①②⑦.⓪.⓪.①',
      '127.0.0.\u00ad1',
    ],
    '0.0.0.0': ['0', '0x0', '00', '0.0', '０'],
    '169.254.169.254': ['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.16689662', '169.254.43518'],
    '[::1]': ['[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]'],
    '[::]': ['[0::0]', '[::0.0.0.0]'],
    '[::ffff:7f00:1]': ['[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::FFFF:7F00:0001]'],
    '[64:ff9b::7f00:1]': ['[64:ff9b::127.0.0.1]'],
    localhost: ['LOCALHOST', 'LocalHost', '%6cocalhost', 'ｌｏｃａｌｈｏｓｔ', 'local\u00adhost', 'ⓛocalhost'],
    'metadata.google.internal': [
      'METADATA.Google.internal',
      'metadata。google。internal',
      '%6detadata.google.internal',
    ],
  }

  test.each(Object.entries(forms))('normalizes every form of %s before the guard sees it', (expected, hosts) => {
    expect(hosts.map((host) => new URL(`http://${host}/`).hostname)).toEqual(hosts.map(() => expected))
  })

  test.each([
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '127.0.0.256',
    '4294967296',
    '0x7f.0.0.0.1',
    '127.0.0.1.1',
    '1.2.3.08',
  ])('rejects a URL whose host is %s', (host) => {
    expect(URL.canParse(`http://${host}/`)).toBe(false)
  })
})

describe('parseAllowance', () => {
  test('a host name allows its private addresses, but not its link-local or metadata addresses', () => {
    const { isAllowed } = allow('docs.internal')
    expect(isAllowed('docs.internal', 80, '10.1.2.3')).toBe(true)
    expect(isAllowed('DOCS.internal.', 443, 'fd12::1')).toBe(true)
    expect(isAllowed('docs.internal', 80, '8.8.8.8')).toBe(true)
    expect(isAllowed('docs.internal', 80, '169.254.169.254')).toBe(false)
    expect(isAllowed('docs.internal', 80, '169.254.1.1')).toBe(false)
    expect(isAllowed('docs.internal', 80, '100.100.100.200')).toBe(false)
    expect(isAllowed('other.internal', 80, '10.1.2.3')).toBe(false)
    expect(isAllowed('evil.docs.internal', 80, '10.1.2.3')).toBe(false)
  })

  test('localhost allows loopback addresses in a URL, but not names that resolve to them', () => {
    const { isAllowed } = allow('localhost')
    expect(isAllowed('localhost', 80, '127.0.0.1')).toBe(true)
    expect(isAllowed('127.0.0.1', 8080, '127.0.0.1')).toBe(true)
    expect(isAllowed('[::1]', 8080, '::1')).toBe(true)
    expect(isAllowed('evil.example', 80, '127.0.0.1')).toBe(false)
    expect(isAllowed('10.0.0.1', 80, '10.0.0.1')).toBe(false)
  })

  test('an address or network is allowed for every host', () => {
    const { isAllowed } = allow('10.0.0.0/8', '::1', '169.254.7.7')
    expect(isAllowed('a.example', 80, '10.255.0.1')).toBe(true)
    expect(isAllowed('a.example', 80, '::ffff:10.0.0.1')).toBe(true)
    expect(isAllowed('a.example', 80, '::1')).toBe(true)
    expect(isAllowed('a.example', 80, '169.254.7.7')).toBe(true)
    expect(isAllowed('a.example', 80, '11.0.0.1')).toBe(true)
    expect(isAllowed('a.example', 80, '192.168.0.1')).toBe(false)
    expect(isAllowed('a.example', 80, '::2')).toBe(false)
  })

  test('a rule with a port allows only that port', () => {
    const { isAllowed } = allow('127.0.0.1:8080', '[::1]:8081', 'docs.internal:8082')
    expect(isAllowed('127.0.0.1', 8080, '127.0.0.1')).toBe(true)
    expect(isAllowed('127.0.0.1', 8081, '127.0.0.1')).toBe(false)
    expect(isAllowed('::1', 8081, '::1')).toBe(true)
    expect(isAllowed('::1', 80, '::1')).toBe(false)
    expect(isAllowed('docs.internal', 8082, '10.0.0.1')).toBe(true)
    expect(isAllowed('docs.internal', 22, '10.0.0.1')).toBe(false)
  })

  test('`*` allows every private address, but no other non-public one', () => {
    const { isAllowed } = allow(ALL_PRIVATE)
    for (const ip of ['127.0.0.1', '::1', '10.0.0.1', '172.20.0.1', '192.168.0.1', '100.64.0.1', 'fd00::1']) {
      expect(isAllowed('a.example', 80, ip)).toBe(true)
    }
    for (const ip of ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '0.0.0.0', '224.0.0.1', 'fe80::1', '::']) {
      expect(isAllowed('a.example', 80, ip)).toBe(false)
    }
  })

  test('a metadata address is allowed only when it is listed itself', () => {
    expect(allow('169.254.0.0/16', 'fd00::/8').isAllowed('a.example', 80, '169.254.169.254')).toBe(false)
    expect(allow('fd00::/8').isAllowed('a.example', 80, 'fd00:ec2::254')).toBe(false)
    expect(allow('169.254.169.254').isAllowed('a.example', 80, '169.254.169.254')).toBe(true)
    expect(allow('metadata.google.internal').isAllowed('metadata.google.internal', 80, '169.254.169.254')).toBe(false)
  })

  const metadataNames = ['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data..']
  test.each(metadataNames)('does not resolve %s unless it is listed itself', (name) => {
    for (const { isNameAllowed } of [PUBLIC_ONLY, allow(), allow(ALL_PRIVATE, '169.254.169.254', 'localhost')]) {
      expect(isNameAllowed(name, 80)).toBe(false)
    }
    expect(allow(name).isNameAllowed(name, 80)).toBe(true)
    expect(allow(`${name}:81`).isNameAllowed(name, 80)).toBe(false)
  })

  test.each(['docs.example', 'localhost', 'metadata.example', 'my-metadata', '10.0.0.1'])(
    'resolves %s and decides by its addresses',
    (name) => {
      expect(PUBLIC_ONLY.isNameAllowed(name, 80)).toBe(true)
      expect(allow().isNameAllowed(name, 80)).toBe(true)
    },
  )

  test('allows only public addresses when no rule is given', () => {
    for (const { isAllowed } of [allow(), PUBLIC_ONLY]) {
      expect(isAllowed('localhost', 80, '127.0.0.1')).toBe(false)
      expect(isAllowed('a.example', 80, '8.8.8.8')).toBe(true)
      expect(isAllowed('a.example', 80, 'nonsense')).toBe(false)
    }
  })

  const problems = {
    '': 'is empty; name a host, an address or a network',
    'http://docs.internal/': 'is a URL; name its host only',
    '10.0.0.0/33': 'is not a network; write it as 10.0.0.0/8 or fd00::/8',
    '10.0/8': 'is not a network; write it as 10.0.0.0/8 or fd00::/8',
    '10.0.0.0/8:80': 'is not a network; write it as 10.0.0.0/8 or fd00::/8',
    '*.internal': 'is a pattern; name each host, or a network such as 10.0.0.0/8',
    'localhost:0': 'has a port outside 1 to 65535',
    'localhost:70000': 'has a port outside 1 to 65535',
    'localhost:http': 'is not a host name, address or network',
    '[localhost]:80': 'has brackets around something that is not an IPv6 address',
    'two words': 'is not a host name, address or network',
    '10.1': 'is not a host name, address or network',
    '0x7f000001': 'is not a host name, address or network',
    '300.1.1.1': 'is not a host name, address or network',
  }

  test.each(Object.entries(problems))('explains what is wrong with the rule %j', (text, problem) => {
    expect(parseAllowance(['localhost', text])).toEqual({
      type: 'problem',
      problem: `${JSON.stringify(text)} ${problem}`,
    })
  })

  function allow(...texts: string[]): Allowance {
    const parsed = parseAllowance(texts)
    if (parsed.type === 'problem') throw new Error(parsed.problem)
    return parsed.allowance
  }
})
