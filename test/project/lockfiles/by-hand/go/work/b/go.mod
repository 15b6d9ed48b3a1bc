module example.org/b

go 1.22

toolchain go1.22.3

require example.com/log v1.2.0

require "example.com/quoted" v1.0.0 // indirect; for tests

tool example.com/text/cmd/tool
