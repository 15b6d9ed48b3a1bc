import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { closeLater } from '../close-later.ts'

/** A way to a PostgreSQL on which answers can get lost. */
export interface LossyWay {
  /** The address of the database by this way. */
  readonly address: string
  /** Cuts the connection on which the next transaction is to be ended, once the server has done so and before anybody hears of it. */
  loseCommit(): void
  /** How often that has happened. */
  lost(): number
}

/** The name of the socket of a server in its folder. */
const SOCKET = '.s.PGSQL.5432'

/** What a client sends that ends a transaction: a simple query, with its length. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('COMMIT\0')])

/** Opens another way to the server at an address. It closes with the test. */
export async function openLossyWay(address: string): Promise<LossyWay> {
  const { searchParams } = new URL(address.replace('@/', '@placeholder/'))
  const folder = searchParams.get('host') ?? ''
  const own = mkdtempSync(join(folder, 'way-'))
  let isLossy = false
  let lost = 0
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(join(folder, SOCKET))
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    let isCut = false
    near.on('data', (data) => {
      if (isLossy && data.includes(COMMIT)) {
        isLossy = false
        isCut = true
      }
      far.write(data)
    })
    far.on('data', (data) => {
      if (!isCut) {
        near.write(data)
        return
      }
      lost++
      cut()
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
      isLossy = true
    },
    lost: () => lost,
  }
}
