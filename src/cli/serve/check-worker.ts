import { parentPort, workerData } from 'node:worker_threads'
import { checkFile } from '../../store/sqlite/database/database.ts'

// Runs in a worker, because a check reads the whole file and blocks its thread for seconds if the file is large.
parentPort?.postMessage(checkFile(workerData as string) ?? null)
