import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const KEY_BYTES = 64

/** Salt and derived key, as text. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, KEY_BYTES)
  return `${salt.toString('base64url')}.${key.toString('base64url')}`
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.split('.')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), KEY_BYTES)
  return timingSafeEqual(derived, Buffer.from(key, 'base64url'))
}
