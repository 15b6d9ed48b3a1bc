import { writeContentSecurityPolicy, writePolicySource } from '../core/content-security-policy.ts'

/** The path of the local page. */
export const LOCAL_PATH = '/local/'

/**
 * Headers of the files of the local page, besides those of every response. The server must not see what the page reads: the page can reach
 * its own folder and nothing else here, not even the API. `host` is the checked Host header; in the policy, `http` also covers `https`.
 */
export function writeLocalHeaders(host: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': writeContentSecurityPolicy(writePolicySource(`http://${host}${LOCAL_PATH}`)),
    'referrer-policy': 'no-referrer',
    'permissions-policy': DENIED_FEATURES.map((name) => `${name}=()`).join(', '),
  }
}

/** Browser features that a page that reads files never needs. */
const DENIED_FEATURES = [
  'camera',
  'display-capture',
  'geolocation',
  'hid',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
]
