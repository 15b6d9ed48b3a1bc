import { parentPort, workerData } from 'node:worker_threads'
import { checkFile } from '../store/sqlite/database.ts'

// A check reads the whole file, which blocks its thread for seconds where the file is large.
parentPort?.postMessage(checkFile(workerData as string) ?? null)
