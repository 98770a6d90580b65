import express, { type Express } from 'express-4'
import { answer } from './faults.ts'

/** An app of Express 4. */
export default function app(): Express {
  return express().use((request, response) => void answer(request, response))
}
