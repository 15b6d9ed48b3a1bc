package local

var more = 2
