import type { Command } from 'commander'
import type { ResultDocument } from '../report/result-document.ts'
import { FILE_VIEWS, type FileFormat } from '../report/views.ts'
import { assertWritable, toJson, writeResult } from './write-results.ts'

/** Files that a command writes. */
export type OutputFiles = { readonly [Format in FileFormat | 'json']?: string | undefined }

const FORMATS = Object.keys(FILE_VIEWS) as FileFormat[]

export function withOutputFiles(command: Command): Command {
  return command
    .option('--json <file>', 'write the result as JSON')
    .option('--markdown <file>', 'write the tables as Markdown')
    .option('--html <file>', 'write a report with plots')
    .option('--csv <file>', 'write the measurements as CSV')
}

/** Fails on a path that cannot be written before anything is measured. */
export function assertOutputFiles({ json, markdown, html, csv }: OutputFiles): void {
  assertWritable(json, markdown, html, csv)
}

export function writeOutputFiles(document: ResultDocument, files: OutputFiles): void {
  if (files.json !== undefined) writeResult(files.json, toJson(document))
  for (const format of FORMATS) {
    const file = files[format]
    if (file !== undefined) writeResult(file, FILE_VIEWS[format](document))
  }
}
