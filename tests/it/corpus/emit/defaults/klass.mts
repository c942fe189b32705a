export default class { v = 3; static make() {} }
