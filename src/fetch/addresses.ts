import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [Address, number]

/** Stands for every private address in {@link parseAllowance}: loopback, RFC 1918, unique local and carrier NAT. */
export const ALL_PRIVATE = '*'

/** Which addresses may be connected to. Public ones are always allowed. */
export interface Allowance {
  /**
   * Whether a host may be resolved at all. Names of cloud metadata services are refused before resolution, because the cloud decides which
   * addresses they have.
   */
  isNameAllowed(host: string, port: number): boolean
  /** Whether `host`, as written in a URL, may be reached on `port` at `ip`, one of the addresses it resolves to. */
  isAllowed(host: string, port: number, ip: string): boolean
}

/** An allowance, or the problem with its text. */
export type ParsedAllowance =
  | { readonly type: 'allowance'; readonly allowance: Allowance }
  | { readonly type: 'problem'; readonly problem: string }

/** Only public addresses. */
export const PUBLIC_ONLY: Allowance = {
  isNameAllowed: (host) => !METADATA_NAMES.has(normalizeHost(host)),
  isAllowed: (_host, _port, ip) => isPublicAddress(ip),
}

/**
 * Parses the addresses that an owner allows in addition to public ones. Each text is one of
 *
 * - a host name (`docs.internal`): allows every private address it resolves to; `localhost` also covers `127.0.0.1` and `[::1]` in a URL
 * - an address or a network (`::1`, `10.0.0.0/8`): allows every host that resolves to it
 * - a host name or an address with its port (`localhost:8080`, `127.0.0.1:8080`, `[::1]:8080`)
 * - {@link ALL_PRIVATE}
 *
 * Link-local and reserved addresses can be allowed only by address or network, and cloud metadata addresses only by their exact address, so
 * that no name or wide network exposes the machine's credentials. A cloud metadata name is resolved only if it is listed itself, and its
 * addresses are checked like all others.
 */
export function parseAllowance(texts: readonly string[]): ParsedAllowance {
  const rules: Rule[] = []
  for (const text of texts) {
    const rule = parseRule(text.trim())
    if (typeof rule === 'string') return { type: 'problem', problem: `${JSON.stringify(text)} ${rule}` }
    rules.push(rule)
  }
  const isAllowed = (host: string, port: number, ip: string): boolean => {
    if (isPublicAddress(ip)) return true
    const address = parseAddress(ip)
    if (address === undefined) return false
    const name = normalizeHost(host)
    return rules.some((rule) => (rule.port === null || rule.port === port) && matchesRule(rule, name, address))
  }
  const isNameAllowed = (host: string, port: number): boolean => {
    const name = normalizeHost(host)
    if (!METADATA_NAMES.has(name)) return true
    const isListed = (rule: Rule) => rule.type === 'host' && rule.host === name
    return rules.some((rule) => isListed(rule) && (rule.port === null || rule.port === port))
  }
  return { type: 'allowance', allowance: { isNameAllowed, isAllowed } }
}

/**
 * Whether an address belongs to the public internet. An address with an embedded IPv4 address (mapped, NAT64) is as public as the embedded
 * one. 6to4, Teredo and ISATAP addresses count as not public: they are obsolete and lead to internal addresses.
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  if (address === undefined || isMetadata(address)) return false
  // `range()` names the special-purpose ranges (RFC 6890) and returns unicast for the rest. Of IPv6, only the assigned part is public.
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || (matches(address, GLOBAL_UNICAST) && !isIsatap(address))
}

/** The rule that allows a host's address: the host name for a private address, otherwise the exact address. */
export function ruleFor(host: string, ip: string): string {
  const address = parseAddress(ip)
  return address !== undefined && isPrivate(address) ? host : ip
}

type Rule = { readonly port: number | null } & (
  | { readonly type: 'all' }
  | { readonly type: 'host'; readonly host: string }
  | { readonly type: 'network'; readonly range: Range }
)

/** RFC 4291, section 2.4: everything else is special or not assigned. */
const GLOBAL_UNICAST: Range = ipaddr.parseCIDR('2000::/3')

/** RFC 6052: the well-known prefix, followed by the IPv4 address. */
const NAT64: Range = ipaddr.parseCIDR('64:ff9b::/96')

/** Address ranges that {@link ALL_PRIVATE} and a host name allow. */
const PRIVATE_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']

/** Addresses where clouds serve a machine's credentials. Some of them lie outside the link-local networks. */
const METADATA: readonly Range[] = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '169.254.0.23/32',
  '169.254.42.42/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::1/128',
  'fe80::a9fe:a9fe/128',
].map((text) => ipaddr.parseCIDR(text))

/** Host names of the metadata services. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.internal',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'metadata.tencentyun.com',
  'api.metadata.cloud.ibm.com',
  'instance-data',
  'instance-data.ec2.internal',
  'rancher-metadata',
])

function parseRule(text: string): Rule | string {
  if (text === ALL_PRIVATE) return { type: 'all', port: null }
  if (text === '') return 'is empty; name a host, an address or a network'
  if (text.includes('/')) return parseNetwork(text)
  if (isIP(text) !== 0) return toNetwork(text, null)

  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const port = digits === undefined ? null : Number(digits)
  if (port !== null && (port < 1 || port > 65_535)) return 'has a port outside 1 to 65535'
  if (bracketed !== undefined) {
    if (isIP(bracketed) === 6) return toNetwork(bracketed, port)
    return 'has brackets around something that is not an IPv6 address'
  }
  if (isIP(plain) !== 0) return toNetwork(plain, port)
  if (plain.includes('*')) return 'is a pattern; name each host, or a network such as 10.0.0.0/8'
  const host = normalizeHost(plain)
  // URL parsing turns 10.1 and 0x7f000001 into addresses, so a rule with such a name would never match.
  if (!/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host) || /(^|\.)(\d+|0x[\da-f]*)$/.test(host)) {
    return 'is not a host name, address or network'
  }
  return { type: 'host', host, port }
}

function parseNetwork(text: string): Rule | string {
  if (text.includes('://')) return 'is a URL; name its host only'
  const [base = '', bits = ''] = text.split('/')
  const family = isIP(base)
  const isNetwork = family !== 0 && /^\d{1,3}$/.test(bits) && ipaddr.isValidCIDR(text)
  if (!isNetwork) return 'is not a network; write it as 10.0.0.0/8 or fd00::/8'
  return { type: 'network', range: ipaddr.parseCIDR(text), port: null }
}

function toNetwork(ip: string, port: number | null): Rule | string {
  const address = parseAddress(ip)
  if (address === undefined) return 'is not an address'
  return { type: 'network', range: [address, address.kind() === 'ipv4' ? 32 : 128], port }
}

function matchesRule(rule: Rule, host: string, address: Address): boolean {
  switch (rule.type) {
    case 'all':
      return isPrivate(address)
    case 'host':
      return isPrivate(address) && (rule.host === host || (rule.host === 'localhost' && isLoopbackLiteral(host)))
    case 'network':
      return matches(address, rule.range) && (!isMetadata(address) || rule.range[1] === addressBits(address))
  }
}

function isPrivate(address: Address): boolean {
  return PRIVATE_RANGES.includes(address.range()) && !isMetadata(address)
}

function isMetadata(address: Address): boolean {
  return METADATA.some((range) => matches(address, range))
}

/** RFC 5214, section 6.1: the interface identifier contains the IPv4 address that packets are forwarded to. */
function isIsatap(address: Address): boolean {
  const [, , , , upper = 0, lower = 0] = address.kind() === 'ipv6' ? (address as ipaddr.IPv6).parts : []
  return (upper === 0 || upper === 0x0200) && lower === 0x5efe
}

function isLoopbackLiteral(host: string): boolean {
  return isIP(host) !== 0 && parseAddress(host)?.range() === 'loopback'
}

function matches(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

function addressBits(address: Address): number {
  return address.kind() === 'ipv4' ? 32 : 128
}

/** Parses an address, and unwraps the IPv4 address inside a mapped or translated one. */
function parseAddress(ip: string): Address | undefined {
  if (isIP(ip) === 0) return undefined
  const address = ipaddr.process(rewriteDottedPart(ip))
  if (address.kind() === 'ipv4' || !matches(address, NAT64)) return address
  return ipaddr.fromByteArray(address.toByteArray().slice(12))
}

/** `::8.8.8.8` → `::808:808`. `ipaddr.process` would read every IPv6 address with a dotted part as a mapped IPv4 address. */
function rewriteDottedPart(ip: string): string {
  if (!ip.includes(':') || !ip.includes('.')) return ip
  const [plain = ''] = ip.split('%')
  return new URL(`http://[${plain}]/`).hostname.slice(1, -1)
}

/** Lower case, without the brackets of an IPv6 address and without final dots. */
function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<!\.)\.+$/, '')
}
