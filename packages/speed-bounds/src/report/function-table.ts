import { styleText } from 'node:util'
import type { FunctionRaceResult } from '../functions/function-result.ts'
import { perSecond, timeOfCall } from './format.ts'
import type { Place } from './tables.ts'
import { cut } from './terminal-width.ts'
import { type Column, drawTable } from './text-table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'function', align: 'left', rank: 0 },
  { title: 'CPU/call', align: 'right', rank: 0 },
  { title: 'calls/s', align: 'right', rank: 1 },
  { title: 'processes', align: 'right', rank: 2 },
]

/** The functions of a race as a table for a terminal, the fastest first. */
export function functionTable({ name, functions }: FunctionRaceResult, { columns = Infinity }: Place): string {
  // A long name leaves room for the CPU per call.
  const nameWidth = Math.max(8, columns - 20)
  const rows = functions
    .toSorted((a, b) => a.cpu - b.cpu)
    .map(({ name: own, cpu, throughput, processes }) => [
      ...[cut(own, nameWidth), timeOfCall(cpu), perSecond(throughput), String(processes)],
    ])
  return [styleText('bold', cut(name, columns)), drawTable(COLUMNS, rows, columns)].join('\n')
}
