export { default } from '../../../web/pages/old/static'
