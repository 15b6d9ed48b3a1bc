module example.org/direct

go 1.19

require example.com/web/v2 v2.1.0

require (
	example.com/log v1.2.0 // indirect
	example.com/text v0.4.1 // indirect
)
