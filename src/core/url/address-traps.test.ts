import { describe, expect, test } from 'vitest'
import { findCalendarTrap, findPathTrap } from './address-traps.ts'

describe('a path that repeats itself', () => {
  test.each([
    ['/a/a/a/a', 'a/ 4 times in a row'],
    ['/docs/a/a/a/a/index.html', 'a/ 4 times in a row'],
    ['/a/b/a/b/a/b', 'a/b/ 3 times in a row'],
    ['/x/a/b/a/b/a/b/y', 'a/b/ 3 times in a row'],
    ['/a/1/a/1/a/1', 'a/1/ 3 times in a row'],
    ['/a/b/c/a/b/c/a/b/c', 'a/b/c/ 3 times in a row'],
    ['/x/////y', '/ 4 times in a row'],
    ['/next/again/again/next/x/again/next/again/again', 'again/ 5 times'],
    [`/${Array.from({ length: 31 }, (_, i) => i).join('/')}`, 'more than 30 segments'],
  ])('is %s', (path, pattern) => {
    expect(findPathTrap(path)).toBe(pattern)
  })

  test.each([
    '/',
    '/en/en/',
    '/a/a/a',
    '/a/b/a/b/c',
    '/a/b/a/b/a',
    '/1/1/1/1/1/1',
    '/tiles/0/0/0/0/0/0/0',
    '/2024/01/01/2024/01/01/2024/01/01',
    '/11/11/11/11',
    '/a/b/b/a/a/b/b/a',
    '/org/org/apache/apache/commons/commons/lang/lang',
    `/${Array.from({ length: 30 }, (_, i) => i).join('/')}`,
  ])('is not %s', (path) => {
    expect(findPathTrap(path)).toBeUndefined()
  })
})

describe('an endless calendar', () => {
  const now = Date.UTC(2026, 10, 15)
  const find = (address: string) => {
    const url = new URL(address, 'https://a.example')
    return findCalendarTrap(url, url.pathname, now)
  }

  test.each([
    ['/calendar/2027/12', '2027-12'],
    ['/calendar/2028/1/', '2028-01'],
    ['/events/2030-05/', '2030-05'],
    ['/events/2030-05-07', '2030-05'],
    ['/calendar/2031/05/', '2031-05'],
    ['/events/2031-05', '2031-05'],
    ['/cal?month=2031-05', '2031-05'],
    ['/?year=2050&month=1', '2050-01'],
    ['/events/2030/may/07', '2030-05'],
    ['/kalender/mai-2030', '2030-05'],
    ['/kalender/05/2030', '2030-05'],
    ['/cal/20300507', '2030-05'],
    ['/?month=5&year=2030', '2030-05'],
    ['/?year=2030&month=may', '2030-05'],
    ['/?cal_m=5&cal_y=2030', '2030-05'],
    ['/?y=2030&m=5', '2030-05'],
    ['/?date=2030-05-07', '2030-05'],
    ['/?date=2030-05-07T10:00', '2030-05'],
    ['/?tribe-bar-date=9999-12-31', '9999-12'],
    ['/events/month/?year=2030', '2030'],
    ['/calendar/view.php?view=month&time=1893456000', '2030-01'],
  ])('leads on to %s', (address, date) => {
    expect(find(address)).toBe(`${date} is more than a year ahead`)
  })

  test.each([
    ['/calendar/1969/12', '1969-12'],
    ['/calendar/1969/1', '1969-01'],
    ['/?month=5&year=1950', '1950-05'],
    ['/agenda/1950/05/07', '1950-05'],
    ['/?calendar-month=5&year=1950', '1950-05'],
    ['/?date=0001-01-01&view=x&week=1', '0001-01'],
    ['/calendar?time=-631152000', '1950-01'],
  ])('leads back to %s', (address, date) => {
    expect(find(address)).toBe(`${date} is before 1970`)
  })

  test.each([
    '/',
    '/calendar/2026/11',
    '/calendar/2027/11',
    '/events/2027-11-30',
    '/calendar/1970/1',
    '/?month=11&year=2027',
    '/1921/may/05/news',
    '/1921/05/05',
    '/archive/1921-05-05',
    '/?date=1921-05-05',
    '/?year=2050',
    '/?date=9999-12-31',
    '/events/2200-01',
    '/2030/05',
    '/archive/2031/05/',
    '/archive/2030/05/07',
    '/2030/may/07',
    '/2030-05-07/',
    '/eol/2032-04-14',
    '/roadmap/2030/01/',
    '/support?end=2032-04',
    '/events/1921-05-05',
    '/events/1944/06/d-day',
    '/on-this-day/1969/07/20/',
    '/standard/8802-11',
    '/iec/9945-2',
    '/parts/3296-10',
    '/rfc/9110-7',
    '/model/7050-2',
    '/forum/2150/10',
    '/ticket/2048/12',
    '/issues/2100/02/',
    '/rfc/7231/6',
    '/rfc/2616/10',
    '/issues/2050/3',
    '/issues/5001/12',
    '/events/2031',
    '/events/1234/5',
    '/calendar/2030/13',
    '/docs/2030-05-roadmap',
    '/items/20300507',
    '/?id=2030',
    '/?q=2030/05',
    '/today/1950/05',
    '/weekly/1950-05-07',
  ])('does not include %s', (address) => {
    expect(find(address)).toBeUndefined()
  })

  test('is recognized by dates more than twelve months after the current month', () => {
    const url = new URL('https://a.example/calendar/2027/11')
    expect(findCalendarTrap(url, url.pathname, Date.UTC(2026, 10, 1))).toBeUndefined()
    expect(findCalendarTrap(url, url.pathname, Date.UTC(2026, 9, 31))).toBeDefined()
  })

  // Anything that is not linear takes hours here.
  test('is searched for in time linear in the length of the address', () => {
    for (const part of ['2030/', '2030-05-', 'cal-', 'x_y', '&year=2030', 'calendar2030', '1', '5/2030/']) {
      findCalendarTrap(new URL(`https://a.example/calendar/2030x/${part.repeat(100_000)}`), part.repeat(100_000), now)
      findCalendarTrap(new URL(`https://a.example/?month=${part.repeat(100_000)}`), '/calendar/', now)
      findCalendarTrap(new URL(`https://a.example/?${part.repeat(100_000)}=1`), '/calendar/2030', now)
      findPathTrap(part.repeat(100_000))
    }
  })
})
