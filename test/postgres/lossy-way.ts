import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { closeLater } from '../close-later.ts'
import { folderOf, SOCKET } from './server.ts'

/** A way to a PostgreSQL on which answers can get lost. */
export interface LossyWay {
  /** The address of the database by this way. */
  readonly address: string
  /** Cuts the connection on which the next transaction is to be ended, once the server has done so and before anybody hears of it. */
  loseCommit(): void
  /** The same before the server hears of it. */
  loseBeforeCommit(): void
  /** Lets nothing pass any more on connections that are open; nobody is told. */
  fallSilent(): void
  /** How often that has happened. */
  lost(): number
}

/** What a client sends that ends a transaction: a simple query, with its length. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('COMMIT\0')])

/** Opens another way to the server at an address. It closes with the test. */
export async function openLossyWay(address: string): Promise<LossyWay> {
  const folder = folderOf(address)
  const own = mkdtempSync(join(folder, 'way-'))
  let losing: 'answer' | 'question' | undefined
  let lost = 0
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  const server = createServer((near) => {
    const far = connect(join(folder, SOCKET))
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    const lose = () => {
      lost++
      cut()
    }
    let isCut = false
    near.on('data', (data) => {
      if (silent.has(near)) return
      const isCommit = data.includes(COMMIT)
      const what = isCommit ? losing : undefined
      if (isCommit) losing = undefined
      isCut = what === 'answer'
      if (what === 'question') lose()
      else far.write(data)
    })
    far.on('data', (data) => {
      if (silent.has(near)) return
      if (isCut) lose()
      else near.write(data)
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', cut).on('close', cut)
    }
  })
  await new Promise<void>((resolve) => server.listen(join(own, SOCKET), resolve))
  closeLater(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    rmSync(own, { recursive: true, force: true })
  })
  return {
    address: address.replace(folder, own),
    loseCommit: () => {
      losing = 'answer'
    },
    loseBeforeCommit: () => {
      losing = 'question'
    },
    fallSilent: () => {
      for (const socket of sockets) silent.add(socket)
    },
    lost: () => lost,
  }
}
