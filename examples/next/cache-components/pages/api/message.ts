export { default } from '../../../web/pages/api/message'
