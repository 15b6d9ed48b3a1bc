import { writePagePolicy, writePolicyPlace } from '../core/page-policy.ts'

/** Where the page that works on one machine is. */
export const LOCAL_PATH = '/local/'

/**
 * Fields of its files, besides those of every answer. What the page reads is not for us: it can reach its own folder and nothing else of
 * this server, not even the API. `host` is what was asked for, and checked; as `http` it stands for `https` as well.
 */
export function writeLocalFields(host: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': writePagePolicy(writePolicyPlace(`http://${host}${LOCAL_PATH}`)),
    'referrer-policy': 'no-referrer',
    'permissions-policy': REFUSED.map((name) => `${name}=()`).join(', '),
  }
}

/** What no page that reads files needs. */
const REFUSED = ['camera', 'display-capture', 'geolocation', 'hid', 'microphone', 'midi', 'payment', 'serial', 'usb']
