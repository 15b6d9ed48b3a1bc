import { beforeEach, describe, expect, test } from 'vitest'
import { CircuitBreaker, CircuitOpenError } from './circuit-breaker.ts'

describe('CircuitBreaker', () => {
  let now: number
  let changes: string[]
  let breaker: CircuitBreaker

  beforeEach(() => {
    now = 1000
    changes = []
    breaker = new CircuitBreaker({ now: () => now, onChange: (state) => changes.push(state) })
  })

  const succeed = () => breaker.run(async () => 'made')
  const fail = (counts?: (error: unknown) => boolean) =>
    breaker
      .run(async () => {
        throw new Error('no')
      }, counts)
      .catch((error: Error) => error.name)
  const failTimes = async (times: number) => {
    for (let i = 0; i < times; i++) await fail()
  }

  test('passes all calls while closed', async () => {
    expect(await succeed()).toBe('made')
    await failTimes(4)
    expect(breaker.state).toBe('closed')
    expect(breaker.failures).toBe(4)
  })

  test('opens after five consecutive failures and rejects without a call', async () => {
    await failTimes(5)
    expect(breaker.state).toBe('open')
    let isCalled = false
    const refused = breaker.run(async () => {
      isCalled = true
    })
    await expect(refused).rejects.toMatchObject({ name: 'CircuitOpenError', retryInMs: 60_000 })
    await expect(refused).rejects.toThrow('next request in 60 s')
    expect(isCalled).toBe(false)
    expect(changes).toEqual(['open'])
  })

  test('resets the failure count after a success', async () => {
    await failTimes(4)
    await succeed()
    await failTimes(4)
    expect(breaker.state).toBe('closed')
    expect(changes).toEqual([])
  })

  test('stays open until exactly the end of its reset time', async () => {
    await failTimes(5)
    now += 59_999
    expect(breaker.state).toBe('open')
    expect(await fail()).toBe('CircuitOpenError')
    now += 1
    expect(breaker.state).toBe('half-open')
  })

  test('lets one trial call through after the reset time, and closes if it succeeds', async () => {
    await failTimes(5)
    now += 60_000
    const { promise, resolve } = Promise.withResolvers<string>()
    const trial = breaker.run(() => promise)
    await expect(succeed()).rejects.toBeInstanceOf(CircuitOpenError)
    resolve('made')
    expect(await trial).toBe('made')
    expect(breaker.state).toBe('closed')
    expect(breaker.failures).toBe(0)
    expect(changes).toEqual(['open', 'closed'])
    expect(await succeed()).toBe('made')
  })

  test('lets calls with a signal wait for the outcome of the trial', async () => {
    const { signal } = new AbortController()
    const wait = () => breaker.run(async () => 'made', undefined, signal)
    await failTimes(5)
    now += 60_000
    const failing = Promise.withResolvers<string>()
    const first = breaker.run(() => failing.promise)
    const refused = [wait(), wait()].map((call) => expect(call).rejects.toBeInstanceOf(CircuitOpenError))
    failing.reject(new Error('still away'))
    await expect(first).rejects.toThrow('still away')
    await Promise.all(refused)
    now += 60_000
    const succeeding = Promise.withResolvers<string>()
    const second = breaker.run(() => succeeding.promise)
    const waiting = [wait(), wait(), wait()]
    succeeding.resolve('made')
    expect(await Promise.all([second, ...waiting])).toEqual(['made', 'made', 'made', 'made'])
  })

  test('lets one waiting call make the next trial if the first proved nothing about the service', async () => {
    await failTimes(5)
    now += 60_000
    const { promise, reject } = Promise.withResolvers<string>()
    const trial = breaker.run(
      () => promise,
      () => false,
    )
    let callCount = 0
    const { signal } = new AbortController()
    const waiting = Array.from({ length: 3 }, () => breaker.run(async () => ++callCount, undefined, signal))
    reject(new Error('no page'))
    await expect(trial).rejects.toThrow('no page')
    expect(await Promise.all(waiting)).toEqual([1, 2, 3])
    expect(breaker.state).toBe('closed')
  })

  test('rejects a waiting call when its signal aborts', async () => {
    await failTimes(5)
    now += 60_000
    const { promise, resolve } = Promise.withResolvers<string>()
    const trial = breaker.run(() => promise)
    const stop = new AbortController()
    const waiting = breaker.run(async () => 'made', undefined, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    resolve('made')
    await trial
  })

  test('reopens for the full reset time when the trial fails', async () => {
    await failTimes(5)
    now += 60_000
    expect(await fail()).toBe('Error')
    expect(breaker.state).toBe('open')
    now += 59_999
    expect(await fail()).toBe('CircuitOpenError')
    now += 1
    expect(await succeed()).toBe('made')
    expect(changes).toEqual(['open', 'open', 'closed'])
  })

  test('ignores failures that say nothing about the service', async () => {
    for (let i = 0; i < 9; i++) expect(await fail(() => false)).toBe('Error')
    expect(breaker.state).toBe('closed')
    expect(breaker.failures).toBe(0)
  })

  test('allows another trial if the first proved nothing about the service', async () => {
    await failTimes(5)
    now += 60_000
    await fail(() => false)
    expect(breaker.state).toBe('half-open')
    expect(await succeed()).toBe('made')
  })

  test('is not kept open by late failures of calls that began before it opened', async () => {
    const late = Promise.withResolvers<never>()
    const earlyCall = breaker.run(() => late.promise).catch(() => {})
    await failTimes(5)
    now += 30_000
    late.reject(new Error('late'))
    await earlyCall
    now += 30_000
    expect(breaker.state).toBe('half-open')
  })

  test('uses the given threshold and reset time', async () => {
    breaker = new CircuitBreaker({ now: () => now, threshold: 1, resetMs: 10 })
    await failTimes(1)
    expect(breaker.state).toBe('open')
    now += 10
    await succeed()
    expect(breaker.state).toBe('closed')
  })

  test('is not closed by late successes of calls that began before it opened', async () => {
    const late = Promise.withResolvers<string>()
    const earlyCall = breaker.run(() => late.promise)
    await failTimes(5)
    late.resolve('made')
    expect(await earlyCall).toBe('made')
    expect(breaker.state).toBe('open')
    expect(changes).toEqual(['open'])
    now += 60_000
    expect(await succeed()).toBe('made')
    expect(changes).toEqual(['open', 'closed'])
  })
})
